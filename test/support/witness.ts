// How a test says what it saw of an attack, for the table that is printed from it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { attacks, type Outcome } from '../../scripts/attacks/list.ts';

/** Says what was seen of an attack. */
export function witness(t: TestContext, attack: number, saw: readonly Outcome[], figure = ''): void {
  t.diagnostic(`attack ${attack} saw ${[...new Set(saw)].join(', ')}${figure && ` (${figure})`}`);
}

/** Says what was seen of an attack, and fails where that is not good enough. */
export function judged(t: TestContext, attack: number, saw: readonly Outcome[], figure?: string): void {
  witness(t, attack, saw, figure);
  const [, ...may] = attacks[attack] ?? [''];
  assert.ok(saw.length > 0 && saw.every((each) => may.includes(each)), `attack ${attack} saw ${saw.join(', ')}`);
}
