// How a test says what it saw of an attack, for the table that is printed from it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { attacks, type AttackOutcome } from '../../scripts/attacks/catalogue.ts';

/** Says what was seen of an attack. */
export function reportAttack(t: TestContext, attack: number, saw: readonly AttackOutcome[], figure = ''): void {
  t.diagnostic(`attack ${attack} saw ${[...new Set(saw)].join(', ')}${figure && ` (${figure})`}`);
}

/** Says what was seen of an attack, and fails where that is not good enough. */
export function assertAttack(t: TestContext, attack: number, saw: readonly AttackOutcome[], figure?: string): void {
  reportAttack(t, attack, saw, figure);
  const [, ...may] = attacks[attack] ?? [''];
  assert.ok(saw.length > 0 && saw.every((each) => may.includes(each)), `attack ${attack} saw ${saw.join(', ')}`);
}
