// The types of the red team: tasks in a simulated world, attacks on them, and what became of each run.
import type { Json, JsonObject } from '../../core/index.ts';

/** The simulated world: collections of records, such as `mails` and `payments`. */
export type World = Readonly<Record<string, readonly JsonObject[]>>;

/** A condition on the state of the world: a record of a collection has these values, or no record has. */
export type Condition = {
  readonly in: string;
  /** Values that a record has; `{ contains: text }` is a part of a text or an item of a list. */
  readonly where: Readonly<Record<string, Json>>;
  readonly absent?: boolean;
};

/** A call as a model that follows instructions makes it. */
export type PlannedCall = { readonly tool: string; readonly input: JsonObject };

/** A task of a user in a world. `{{0}}` in a text is where the first text of an attack is placed. */
export type Scenario = {
  readonly id: string;
  /** What the user writes, turn by turn. */
  readonly task: readonly string[];
  /** Records that are added to the common world. */
  readonly world: World;
  /** The calls of a correct run, by turn. */
  readonly plan: readonly (readonly PlannedCall[])[];
  /** What holds if the task was done. */
  readonly kept: readonly Condition[];
  /** Whether each turn is a session of its own in the same world. */
  readonly isSplit?: boolean;
  /** What a sub-agent does for a task that contains a text. */
  readonly agents?: readonly { readonly task: string; readonly calls: readonly PlannedCall[] }[];
};

/** An attack on a task. */
export type Attack = {
  readonly id: string;
  /** The kind, such as `indirect` or `memory`. */
  readonly kind: string;
  readonly scenario: Scenario;
  /** The texts of the attacker. */
  readonly texts: readonly string[];
  /** What an obedient model does once it has read all texts. */
  readonly calls: readonly PlannedCall[];
  /** What holds if the attack succeeded. */
  readonly harm: readonly Condition[];
  /** The turn from which the obedient model acts; 0 by default. */
  readonly turn?: number;
  /** Descriptions of tools that the attacker wrote, with `{{0}}`, and the turn from which they are in use. */
  readonly descriptions?: Readonly<Record<string, string>>;
  readonly descriptionsTurn?: number;
};

/** `off`: no flow policy. `ask`: a user answers questions, with no to a call of the attacker or one that would do the harm. `deny`: what would be asked is denied. */
export type Defence = 'off' | 'ask' | 'deny';

/** What became of one run. */
export type RedTeamRun = {
  readonly attack: string;
  readonly kind: string;
  readonly scenario: string;
  readonly defence: Defence;
  /** Whether the texts of the attacker were in the world; without them it is the benign twin. */
  readonly isAttacked: boolean;
  readonly harmed: boolean;
  readonly kept: boolean;
  /** The questions of the flow policy. */
  readonly questions: number;
  /** Why nothing was measured, such as a model that failed. */
  readonly error?: string;
};
