// A forkable workspace in memory: a JSON value that a pure function changes.
import { canonicalJson, toJson, type Json } from '../../../core/index.ts';
import type { ForkableWorkspace, ParsedAction } from './forkable-workspace.ts';

/** Options of createValueWorkspace. */
export type ValueWorkspaceOptions<Value extends Json, Action extends Json> = {
  readonly value: Value;
  /** Returns the next value; throws if the action cannot be carried out. It must have no other effect. */
  readonly apply: (value: Value, action: Action) => Value;
  /** Reads a proposed action, or says why it is none. */
  readonly parse: (proposed: unknown) => ParsedAction<Action>;
  /** Describes a value for a model; as JSON by default. */
  readonly describe?: (value: Value) => string;
};

/** A workspace whose state is a JSON value. */
export interface ValueWorkspace<Value extends Json, Action extends Json> extends ForkableWorkspace<Action> {
  readonly value: Value;
  fork(signal: AbortSignal): Promise<ValueWorkspace<Value, Action>>;
}

/** Creates a workspace in memory. Values are copied, so that a function that changes its argument changes no other state. */
export function createValueWorkspace<Value extends Json, Action extends Json>(
  options: ValueWorkspaceOptions<Value, Action>,
): ValueWorkspace<Value, Action> {
  const { apply, parse, describe = (value) => JSON.stringify(value) } = options;
  let initial = copy(options.value);
  let value = initial;
  return {
    effects: ['the value'],
    get value() {
      return copy(value);
    },
    fork: async () => createValueWorkspace({ ...options, value }),
    checkpoint: async () => {
      initial = value;
    },
    rollback: async () => {
      value = initial;
    },
    parse,
    apply: async (action) => {
      value = copy(apply(copy(value), copy(action)));
      return '';
    },
    describe: async () => describe(copy(value)),
    fingerprint: async () => canonicalJson(value),
    discard: async () => {},
  };
}

const copy = <Value extends Json>(value: Value): Value => toJson(value) as Value;
