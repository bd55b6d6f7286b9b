// The declarative form of rules: plain data, from a YAML or JSON file, of the same power as the makers it stands for.
import type { StopExample } from '../examples/trial.ts';
import type { GateExample, Span } from '../enforcement/enforcement.ts';
import type { Tuning } from '../reminders/built-in.ts';
import type { Cooldown, ReminderExample } from '../reminders/definition.ts';
import { triggers, type Trigger } from '../reminders/triggers.ts';
import type { Format } from '../rendering/formats.ts';
import {
  anything,
  count,
  either,
  fields,
  kinds,
  list,
  named,
  number,
  oneOrMany,
  table,
  text,
  word,
  yesNo,
  type Fields,
  type Shape,
} from '../schema/shape.ts';
import { conditionShape, type Condition } from './conditions.ts';

/** A reminder as data. `{failures}` and other names of questions in its message are replaced by their answers. */
export type DeclaredReminder = {
  readonly name: string;
  readonly on?: Trigger | readonly Trigger[];
  readonly tool?: string | readonly string[];
  readonly when?: Condition;
  readonly message: string;
  readonly cooldown?: Cooldown;
  readonly once?: boolean;
  readonly priority?: number;
  readonly group?: string;
  readonly expiresAfter?: number;
  readonly examples?: readonly ReminderExample[];
};

type Named = { readonly name?: string; readonly examples?: readonly GateExample[] };

/** A gate as data. */
export type DeclaredGate = Named &
  (
    | {
        readonly type: 'read-before-edit';
        readonly reads?: Readonly<Record<string, string>>;
        readonly edits?: Readonly<Record<string, string>>;
        readonly writes?: Readonly<Record<string, string>>;
      }
    | {
        readonly type: 'confirm';
        readonly tools?: readonly string[];
        readonly when?: Condition;
        readonly question?: string;
      }
    | { readonly type: 'deny'; readonly tools?: readonly string[]; readonly when?: Condition; readonly reason: string }
    | {
        readonly type: 'rate-limit';
        readonly tool: string;
        readonly most: number;
        readonly per: 'turn' | 'run' | { readonly minutes: number };
        readonly count?: 'calls' | 'retries';
      }
    | { readonly type: 'order' | 'exclusive'; readonly tools: readonly string[]; readonly per?: Span }
    | {
        readonly type: 'phases';
        readonly phases: Readonly<Record<string, readonly string[]>>;
        readonly start: string;
        /** A tool that succeeded in this run, and the phase that begins with it; of several the last in this list counts. */
        readonly moves: readonly { readonly after: string; readonly to: string }[];
        readonly others?: 'allow' | 'deny';
      }
  );

/** A stop as data. */
export type DeclaredStop = { readonly name?: string } & (
  | { readonly type: 'turns' | 'tokens' | 'usd' | 'minutes'; readonly most: number }
  | { readonly type: 'context'; readonly most?: number; readonly percent?: number }
  | { readonly type: 'errors'; readonly most: number; readonly tool?: string }
  | { readonly type: 'stuck'; readonly times: number }
  | { readonly type: 'answer'; readonly contains: string }
  | { readonly type: 'complete' | 'when'; readonly when: Condition; readonly detail?: string }
  | { readonly type: 'any' | 'all'; readonly of: readonly DeclaredStop[] }
);

/** Rules as data. */
export type DeclaredRules = {
  readonly name: string;
  readonly reminders?: readonly DeclaredReminder[];
  /** The reminders we ship: all as they are, or tuned by name. */
  readonly builtIn?: boolean | Readonly<Record<string, Tuning>>;
  readonly gates?: readonly DeclaredGate[];
  readonly stops?: readonly DeclaredStop[];
  readonly renderers?: readonly {
    readonly as: Format;
    readonly tools?: readonly string[];
    readonly models?: readonly string[];
  }[];
  readonly examples?: readonly StopExample[];
};

const condition = named('condition', () => conditionShape);
const steps = list(anything('Something that happened: said, answered, called, compacted, model, pausedMinutes.'));
const names = list(text(), 1);
const gateExamples = list(
  fields(
    { title: text(), call: fields({ tool: text() }, { input: anything() }), decides: word(['allow', 'ask', 'deny']) },
    { history: steps },
  ),
);
const gate = (needed: Fields, free: Fields = {}): Shape =>
  fields(needed, { name: text('How the rule is called when it refuses.'), examples: gateExamples, ...free });
const span = word(['turn', 'run', 'session']);
const stop = (needed: Fields, free: Fields = {}): Shape => fields(needed, { name: text(), ...free });
const innerStop: Shape = named('stop', () => stopShape);

/** The shape of a stop. */
export const stopShape: Shape = kinds('type', {
  turns: stop({ most: count(1) }),
  tokens: stop({ most: count(1) }),
  usd: stop({ most: number(0) }),
  minutes: stop({ most: number(0) }),
  context: stop({}, { most: count(1), percent: number(1) }),
  errors: stop({ most: count(1) }, { tool: text() }),
  stuck: stop({ times: count(2) }),
  answer: stop({ contains: text() }),
  complete: stop({ when: condition }, { detail: text() }),
  when: stop({ when: condition }, { detail: text() }),
  any: stop({ of: list(innerStop, 1) }),
  all: stop({ of: list(innerStop, 1) }),
});

const minutes = fields({ minutes: number(0) });
const spans = word(['turn', 'run']);
const cooldowns = fields({}, { evaluations: count(0), turns: count(0) });

/** The shape of rules as data. */
export const rulesShape: Shape = fields(
  { name: text('What the set is called.') },
  {
    $schema: text(),
    reminders: list(
      fields(
        { name: text('The name in the tag.'), message: text('What the model is told.') },
        {
          on: oneOrMany(word(triggers, 'The facts, or events, at which it is looked at.')),
          tool: oneOrMany(text('Only for calls of this tool.')),
          when: condition,
          cooldown: either([count(0), cooldowns], (value) => (typeof value === 'object' ? cooldowns : count(0))),
          once: yesNo(),
          priority: number(0, '100 and more is safety.'),
          group: text(),
          expiresAfter: count(1, 'Turns.'),
          examples: list(fields({ title: text(), history: steps, fires: yesNo() })),
        },
      ),
    ),
    builtIn: either([yesNo(), tuning()], (value) => (typeof value === 'boolean' ? yesNo() : tuning())),
    gates: list(
      kinds('type', {
        'read-before-edit': gate({}, { reads: table(text()), edits: table(text()), writes: table(text()) }),
        confirm: gate({}, { tools: names, when: condition, question: text() }),
        deny: gate({ reason: text('Why, and what to do instead.') }, { tools: names, when: condition }),
        'rate-limit': gate(
          {
            tool: text(),
            most: count(0),
            per: either([spans, minutes], (value) => (typeof value === 'string' ? spans : minutes)),
          },
          { count: word(['calls', 'retries']) },
        ),
        order: gate({ tools: list(text(), 2) }, { per: span }),
        exclusive: gate({ tools: list(text(), 2) }, { per: span }),
        phases: gate(
          { phases: table(list(text())), start: text(), moves: list(fields({ after: text(), to: text() })) },
          { others: word(['allow', 'deny']) },
        ),
      }),
    ),
    stops: list(innerStop),
    renderers: list(fields({ as: word(['markdown', 'xml', 'json']) }, { tools: names, models: names })),
    examples: list(fields({ title: text(), stop: text(), history: steps, stops: yesNo() })),
  },
);

function tuning(): Shape {
  return table(fields({}, { threshold: number(0), cooldown: count(0), off: yesNo() }));
}
