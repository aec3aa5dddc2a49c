import {
  checkoutInput,
  checkoutResume,
  checkoutStop,
  openedCheckout,
  stoppedView,
} from '../checkout/schemas.ts';
import { orderInput } from '../orders/schemas.ts';
import { cancelInput } from '../orders/shop-api/schemas.ts';
import { orderView, productView, shopOrdersView, shopOrderView } from '../orders/order-view.ts';
import { refundInput, refundView } from '../orders/refunds.ts';
import { problemDocument } from '../platform/problem.ts';

/** The schemas by their names in the description. The routes validate with the same ones. */
export const SCHEMAS = {
  CheckoutInput: checkoutInput,
  OpenedCheckout: openedCheckout,
  CheckoutStop: checkoutStop,
  CheckoutResume: checkoutResume,
  Stopped: stoppedView,
  OrderInput: orderInput,
  Order: orderView,
  ShopOrder: shopOrderView,
  ShopOrders: shopOrdersView,
  CancelInput: cancelInput,
  RefundInput: refundInput,
  Refund: refundView,
  Product: productView,
  Problem: problemDocument,
};
export type SchemaName = keyof typeof SCHEMAS;
