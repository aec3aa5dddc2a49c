import { createTransport, type Transporter } from 'nodemailer';
import type { Receiver } from '../fulfilment/release.ts';
import { displayMoney } from '../platform/money.ts';

/** Less than a receiver may take. */
const MAX_MS = 8_000;
/** What is left of an address that was erased. */
const ERASED = 'erased';

/**
 * An example, off until `fulfilment.ts` names it: mails the shopper a receipt for a paid order.
 * `export const receiver: Receiver | null = receiptByMail('help@lamps.example');`
 * The mail is sent at least once. After a failure it may come twice, under one message id, which follows from the
 * release: mail programs may show such mails as one. A release has no address; the order's is read when the mail
 * is sent. An order whose address was erased gets no mail.
 * @param from the shop's address
 * @param server `smtp://` or `smtps://`, with name and password where it wants them; left out: SMTP_URL
 * @throws when the server does not take the mail: the release is then delivered again
 */
export function receiptByMail(from: string, server?: string): Receiver {
  let transport: Transporter | undefined;
  // Not before the first mail: when this file is read, `.env` is not.
  const open = (): Transporter => {
    const url = server ?? process.env.SMTP_URL;
    if (!url) throw new Error('a receipt by mail needs SMTP_URL');
    const limits = { connectionTimeout: MAX_MS, greetingTimeout: MAX_MS, socketTimeout: MAX_MS };
    return createTransport({ url, ...limits });
  };
  return async ({ id, orderId, total, lines }, { database }) => {
    const { order } = await database.prisma();
    const { email } = await order.findUniqueOrThrow({ where: { id: orderId }, select: { email: true } });
    if (email === ERASED) return;
    transport ??= open();
    const goods = lines.map(({ quantity, description, unitAmount }) => {
      const amount = displayMoney({ ...total, amount: unitAmount * BigInt(quantity) });
      // Names come from outside: no control character gets into a mail.
      return `${quantity} x ${description.replace(/\p{C}/gu, '?')}, ${amount}`;
    });
    await transport.sendMail({
      from,
      to: { name: '', address: email },
      messageId: `<${id}@${from.split('@')[1] ?? ''}>`,
      subject: `Your receipt for order ${orderId}`,
      text: ['Thank you, your order is paid.', '', ...goods, `Total ${displayMoney(total)}`, ''].join('\n'),
    });
  };
}
