/** Who the shop is and whom a shopper asks for help. A clone puts its own name and address here. */
export const SHOP = {
  name: 'Three Markets',
  helpEmail: 'help@three-markets.example',
} as const;
