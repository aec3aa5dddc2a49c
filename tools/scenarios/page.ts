import type { Card } from '../../local/sandbox/faults/deck.ts';

const INTRODUCTION = `# Rehearsals

Everything that may go wrong between a shop and its payment service can be had here on purpose, long before there is a
key. Each of these faults has a name, lies in the sandbox, and comes with the end that it must have.

- By command: \`npm run scenario -- pay-less\` plays one against a whole integrator with a database and a sandbox of its
  own, prints what was seen, and exits with 0 only if it ended as it should; \`-- --all\` plays the whole deck.
- By hand: open a checkout and look under _Let something go wrong_ on the sandbox's page; faults for everybody are on its
  first page.
- By program: \`POST /sandbox/transactions/REFERENCE/play {"fault": "pay-less"}\` for what the shopper does;
  \`POST /sandbox/faults {"fault": "answer-cut", "endpoint": "verify", "reference": "REFERENCE", "calls": 2}\` for everything
  else, where each field but the first may be left out; \`GET /sandbox/faults\` shows what lies in the air,
  \`POST /sandbox/faults/clear\` takes it back. The sandbox's ledger (\`GET /sandbox/transactions\`) stays the truth
  whatever its answers say.

This page is printed by \`npm run scenario -- --page\`, and a test compares it with the deck.
`;

/** docs/rehearsals.md, from the deck itself. */
export function rehearsalsPage(deck: readonly Card[]): string {
  const families = [...new Set(deck.map(({ family }) => family))];
  const sections = families.map((family) => {
    const cards = deck.filter((card) => card.family === family);
    return [`## ${capitalised(family)}`, ...cards.map(section)].join('\n\n');
  });
  return `${[INTRODUCTION, ...sections].join('\n')}\n`
    .replace(/\n## /g, '\n\n## ')
    .replace(/\n{3,}/g, '\n\n');
}

function section({ name, title, happens, ends }: Card): string {
  return `### \`${name}\`\n\n${title}. ${happens}\n\n**Must end:** ${ends}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
