// Errors of the patterns: a wrong option, and a participant that may not have its role.
import { FairleadError } from '../../core/index.ts';

/** An option that cannot be used; nothing was asked. */
export const badOptionError = (message: string, hint?: string): FairleadError =>
  new FairleadError('patterns/bad-option', message, { blame: 'user', ...(hint === undefined ? {} : { hint }) });

/** A participant that would judge its own work, or work of its model family. */
export const dependentError = (message: string): FairleadError =>
  new FairleadError('patterns/not-independent', message, {
    blame: 'user',
    hint: 'Use a model of another family, or name the family: { name, family, agent }.',
  });

/** An action that a workspace cannot roll back. */
export const effectError = (message: string): FairleadError =>
  new FairleadError('patterns/effect', message, { blame: 'tool' });

/** Throws unless a value is a whole number from a minimum to a maximum. */
export function assertWhole(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw badOptionError(`${name} must be a whole number from ${min} to ${max}, not ${String(value)}.`);
}
