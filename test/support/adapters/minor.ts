import shared from './shared.ts';

export default { ...shared, amountUnit: 'minor' };
