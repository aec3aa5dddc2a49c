import { z } from 'zod';

/**
 * What a shopper may give beside the e-mail address: each field as `POST /checkout` and `POST /orders`
 * take it and as the order keeps it. It is personal data and erased with the address. A field is
 * optional, because earlier orders lack it, and its text has a pattern: PostgreSQL takes no NUL and no
 * half of a surrogate pair.
 */
export const shopperDetails = z.object({});
export type ShopperDetails = z.output<typeof shopperDetails>;
