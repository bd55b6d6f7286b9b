// The adaptive attacks: the attacker knows the flow policy, and aims at what it trusts.
import { adaptiveFieldAttacks } from './adaptive-fields.ts';
import { adaptiveRuleAttacks } from './adaptive-rules.ts';
import { adaptiveTurnAttacks } from './adaptive-turns.ts';
import { adaptiveValueAttacks } from './adaptive-values.ts';
import type { Attack } from './types.ts';

/** The attacks of the adaptive protocol; the kind of each is what it aims at. */
export const adaptiveAttacks: readonly Attack[] = [
  ...adaptiveValueAttacks,
  ...adaptiveFieldAttacks,
  ...adaptiveRuleAttacks,
  ...adaptiveTurnAttacks,
];
