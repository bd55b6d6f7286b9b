import { getRate } from './tax.mjs';

export const withTax = (net) => Math.round(net * (1 + getRate()) * 100) / 100;
