import { z } from 'zod';

/** What `POST /checkout` gives: where to send the shopper, and how to ask for the order afterwards. */
export const openedCheckout = z.strictObject({
  orderId: z.string().brand<'OrderId'>(),
  reference: z.string().brand<'Reference'>(),
  status: z.literal('pending'),
  amount: z.string().describe('Exact decimal text in major units: "25.00"'),
  currency: z.string(),
  checkoutUrl: z.url().describe("The service's hosted page: send the browser there"),
});
export type OpenedCheckout = z.output<typeof openedCheckout>;
