import { checkoutInput, openedCheckout } from '../checkout/schemas.ts';
import { orderInput } from '../orders/schemas.ts';
import { orderView, productView } from '../orders/order-view.ts';
import { refundInput, refundView } from '../orders/refunds.ts';
import { problemDocument } from '../platform/problem.ts';

/** The schemas by their names in the description. The routes validate with the same ones. */
export const SCHEMAS = {
  CheckoutInput: checkoutInput,
  OpenedCheckout: openedCheckout,
  OrderInput: orderInput,
  Order: orderView,
  RefundInput: refundInput,
  Refund: refundView,
  Product: productView,
  Problem: problemDocument,
};
export type SchemaName = keyof typeof SCHEMAS;
