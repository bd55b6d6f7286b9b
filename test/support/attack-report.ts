// Reports what a test observed of an attack, for the printed table.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { attacks, type AttackOutcome } from '../../scripts/attacks/catalogue.ts';

/** Reports what was observed of an attack. */
export function reportAttack(t: TestContext, attack: number, saw: readonly AttackOutcome[], figure = ''): void {
  t.diagnostic(`attack ${attack} saw ${[...new Set(saw)].join(', ')}${figure && ` (${figure})`}`);
}

/** Reports what was observed of an attack, and fails if that is not an allowed outcome. */
export function assertAttack(t: TestContext, attack: number, saw: readonly AttackOutcome[], figure?: string): void {
  reportAttack(t, attack, saw, figure);
  const [, ...may] = attacks[attack] ?? [''];
  assert.ok(saw.length > 0 && saw.every((each) => may.includes(each)), `attack ${attack} saw ${saw.join(', ')}`);
}
