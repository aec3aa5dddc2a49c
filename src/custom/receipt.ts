import { createTransport, type Transporter } from 'nodemailer';
import type { Receiver } from '../fulfilment/release.ts';
import { displayMoney } from '../platform/money.ts';

/** Less than a receiver may take. */
const MAX_MS = 8_000;
/** What is left of an address that was erased. */
const ERASED = 'erased';

/**
 * An example, off until `fulfilment.ts` names it: mails the shopper a receipt for a paid order. `export const
 * receiver: Receiver | null = receiptByMail('help@lamps.example');` The mail is sent at least once. After a
 * failure it may come twice, under one message id, which follows from the release: mail programs may show
 * such mails as one. A release has no address; the order's is read when the mail is sent. An order whose
 * address was erased gets no mail.
 * @param from the shop's address, with its name if it likes: `The Lamp Shop <help@lamps.example>`
 * @param server `smtp://` or `smtps://`, with name and password where it wants them; left out: SMTP_URL
 * @throws when the server does not take the mail: the release is then delivered again
 */
export function receiptByMail(from: string, server?: string): Receiver {
  let transport: Transporter | undefined;
  const open = (): Transporter => {
    const url = server ?? process.env.SMTP_URL;
    if (!url) throw new Error('a receipt by mail needs SMTP_URL');
    const limits = { connectionTimeout: MAX_MS, greetingTimeout: MAX_MS, socketTimeout: MAX_MS };
    return createTransport({ url, ...limits });
  };
  return async ({ id, orderId, total, lines }, { database }) => {
    const [order] = await database.query<{ email: string; came: bigint }>(
      'SELECT email, money_that_came(r) AS came FROM releases r JOIN orders o ON o.id = r.order_id WHERE r.id = $1',
      [id],
    );
    if (order === undefined || order.email === ERASED) return;
    transport ??= open();
    const goods = lines.map(({ quantity, description, unitAmount }) => {
      const amount = displayMoney({ ...total, amount: unitAmount * BigInt(quantity) });
      // Names come from outside: no control character gets into a mail.
      return `${quantity} x ${description.replace(/\p{C}/gu, '?')}, ${amount}`;
    });
    const accepted = displayMoney({ ...total, amount: order.came });
    const sums = [
      `Total ${displayMoney(total)}`,
      ...(order.came < total.amount ? [`We accepted ${accepted} as the payment of this order.`] : []),
    ];
    await transport.sendMail({
      from,
      to: { name: '', address: order.email },
      messageId: `<${id}@${/@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'}>`,
      subject: `Your receipt for order ${orderId}`,
      text: ['Thank you, your order is paid.', '', ...goods, ...sums, ''].join('\n'),
    });
  };
}
