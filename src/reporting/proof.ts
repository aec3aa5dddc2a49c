import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { View } from '../custom/days.ts';
import { explain, partsOf } from './explain.ts';
import { amountText } from './words.ts';

const escape = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/**
 * An HTML page to print for a bank, with the customer's whole address.
 * @returns null: there is no such order
 */
export async function proofPage(prisma: PrismaClient, mode: Mode, id: string, view: View): Promise<string | null> {
  const lines = { orderBy: { position: 'asc' } } as const;
  const order = await prisma.order.findFirst({ where: { id, mode }, include: { lines } });
  // A view from another year makes every time show its date.
  const dated = { ...view, now: new Date(0) };
  const story = await explain(prisma, mode, { orderId: id }, dated, true);
  if (order === null || story === null) return null;
  const told = partsOf(story, dated);
  const goods = order.lines.map((line) => {
    return `${line.quantity} × ${line.description}, ${amountText({ ...order, amount: line.unitAmount })} each`;
  });
  const parts = {
    'The order': [`Our number: ${order.externalId ?? id}`, `Customer: ${order.email}`, `Times in: ${view.timeZone}`],
    'What was bought': [...goods, `Price: ${amountText(order)}`, 'Number of the parcel: ____________________'],
    'How it stands': [story.words.sentence, ...told['The money']],
    'What happened': told['What happened'],
    'The record, and each answer of the payment service with the SHA-256 of its bytes': told['The record'],
  };
  const html = Object.entries(parts).map(([title, told]) => `<h2>${title}</h2>\n<p>${escape(told.join('\n'))}</p>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Order ${escape(id)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:14px/1.6 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
p{white-space:pre-wrap}</style>
<main><h1>Order ${escape(id)}</h1>
${html.join('\n')}
</main></html>
`;
}
