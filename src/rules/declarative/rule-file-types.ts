// The declarative form of rules: plain data from a YAML or JSON file, equivalent to the functions that create rules in code.
import type { StopExample } from '../testing/run-examples.ts';
import type { GateExample, RuleScope } from '../gates/gate-rule.ts';
import type { ReminderTuning } from '../reminders/built-in.ts';
import type { Cooldown, ReminderExample } from '../reminders/definition.ts';
import { allReminderTriggers, type ReminderTrigger } from '../reminders/triggers.ts';
import type { RenderFormat } from '../rendering/formats.ts';
import {
  jsonValueSchema,
  integerSchema,
  eitherSchema,
  structSchema,
  discriminatedUnionSchema,
  arraySchema,
  refSchema,
  numberSchema,
  oneOrManySchema,
  recordSchema,
  stringSchema,
  enumSchema,
  booleanSchema,
  type FieldSchemas,
  type DataSchema,
} from '../schema/data-schema.ts';
import { conditionSchema, type Condition } from './conditions.ts';

/** A reminder as data. `{failures}` and other fact names in its message are replaced by their values. */
export type DeclaredReminder = {
  readonly name: string;
  readonly on?: ReminderTrigger | readonly ReminderTrigger[];
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

type NamedGate = { readonly name?: string; readonly examples?: readonly GateExample[] };

/** A gate as data. */
export type DeclaredGate = NamedGate &
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
    | { readonly type: 'order' | 'exclusive'; readonly tools: readonly string[]; readonly per?: RuleScope }
    | {
        readonly type: 'phases';
        readonly phases: Readonly<Record<string, readonly string[]>>;
        readonly start: string;
        /** A tool, and the phase that starts when it succeeds in this run. If several apply, the last in this list wins. */
        readonly moves: readonly { readonly after: string; readonly to: string }[];
        readonly others?: 'allow' | 'deny';
      }
  );

/** A stop condition as data. */
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
  /** The built-in reminders: all with their defaults, or tuned by name. */
  readonly builtIn?: boolean | Readonly<Record<string, ReminderTuning>>;
  readonly gates?: readonly DeclaredGate[];
  readonly stops?: readonly DeclaredStop[];
  readonly renderers?: readonly {
    readonly as: RenderFormat;
    readonly tools?: readonly string[];
    readonly models?: readonly string[];
  }[];
  readonly examples?: readonly StopExample[];
};

const conditionRef = refSchema('condition', () => conditionSchema);
const stepsSchema = arraySchema(
  jsonValueSchema('A step of the history: said, answered, called, compacted, model, pausedMinutes.'),
);
const namesSchema = arraySchema(stringSchema(), 1);
const gateExamplesSchema = arraySchema(
  structSchema(
    {
      title: stringSchema(),
      call: structSchema({ tool: stringSchema() }, { input: jsonValueSchema() }),
      decides: enumSchema(['allow', 'ask', 'deny']),
    },
    { history: stepsSchema },
  ),
);
const gateSchema = (needed: FieldSchemas, free: FieldSchemas = {}): DataSchema =>
  structSchema(needed, {
    name: stringSchema('The name of the rule in its denials.'),
    examples: gateExamplesSchema,
    ...free,
  });
const scopeSchema = enumSchema(['turn', 'run', 'session']);
const stopOptionsSchema = (needed: FieldSchemas, free: FieldSchemas = {}): DataSchema =>
  structSchema(needed, { name: stringSchema(), ...free });
const stopRef: DataSchema = refSchema('stop', () => stopDataSchema);

/** The schema of a stop condition. */
export const stopDataSchema: DataSchema = discriminatedUnionSchema('type', {
  turns: stopOptionsSchema({ most: integerSchema(1) }),
  tokens: stopOptionsSchema({ most: integerSchema(1) }),
  usd: stopOptionsSchema({ most: numberSchema(0) }),
  minutes: stopOptionsSchema({ most: numberSchema(0) }),
  context: stopOptionsSchema({}, { most: integerSchema(1), percent: numberSchema(1) }),
  errors: stopOptionsSchema({ most: integerSchema(1) }, { tool: stringSchema() }),
  stuck: stopOptionsSchema({ times: integerSchema(2) }),
  answer: stopOptionsSchema({ contains: stringSchema() }),
  complete: stopOptionsSchema({ when: conditionRef }, { detail: stringSchema() }),
  when: stopOptionsSchema({ when: conditionRef }, { detail: stringSchema() }),
  any: stopOptionsSchema({ of: arraySchema(stopRef, 1) }),
  all: stopOptionsSchema({ of: arraySchema(stopRef, 1) }),
});

const minutesSchema = structSchema({ minutes: numberSchema(0) });
const limitPeriodSchema = enumSchema(['turn', 'run']);
const cooldownSchema = structSchema({}, { evaluations: integerSchema(0), turns: integerSchema(0) });

/** The schema of declarative rules. */
export const rulesDataSchema: DataSchema = structSchema(
  { name: stringSchema('The name of the set.') },
  {
    $schema: stringSchema(),
    reminders: arraySchema(
      structSchema(
        { name: stringSchema('The name in the tag.'), message: stringSchema('The text for the model.') },
        {
          on: oneOrManySchema(enumSchema(allReminderTriggers, 'The facts or events at which it is evaluated.')),
          tool: oneOrManySchema(stringSchema('Only for calls of this tool.')),
          when: conditionRef,
          cooldown: eitherSchema([integerSchema(0), cooldownSchema], (value) =>
            typeof value === 'object' ? cooldownSchema : integerSchema(0),
          ),
          once: booleanSchema(),
          priority: numberSchema(0, '100 and above is for safety.'),
          group: stringSchema(),
          expiresAfter: integerSchema(1, 'Turns.'),
          examples: arraySchema(structSchema({ title: stringSchema(), history: stepsSchema, fires: booleanSchema() })),
        },
      ),
    ),
    builtIn: eitherSchema([booleanSchema(), tuningSchema()], (value) =>
      typeof value === 'boolean' ? booleanSchema() : tuningSchema(),
    ),
    gates: arraySchema(
      discriminatedUnionSchema('type', {
        'read-before-edit': gateSchema(
          {},
          {
            reads: recordSchema(stringSchema()),
            edits: recordSchema(stringSchema()),
            writes: recordSchema(stringSchema()),
          },
        ),
        confirm: gateSchema({}, { tools: namesSchema, when: conditionRef, question: stringSchema() }),
        deny: gateSchema(
          { reason: stringSchema('Why, and what to do instead.') },
          { tools: namesSchema, when: conditionRef },
        ),
        'rate-limit': gateSchema(
          {
            tool: stringSchema(),
            most: integerSchema(0),
            per: eitherSchema([limitPeriodSchema, minutesSchema], (value) =>
              typeof value === 'string' ? limitPeriodSchema : minutesSchema,
            ),
          },
          { count: enumSchema(['calls', 'retries']) },
        ),
        order: gateSchema({ tools: arraySchema(stringSchema(), 2) }, { per: scopeSchema }),
        exclusive: gateSchema({ tools: arraySchema(stringSchema(), 2) }, { per: scopeSchema }),
        phases: gateSchema(
          {
            phases: recordSchema(arraySchema(stringSchema())),
            start: stringSchema(),
            moves: arraySchema(structSchema({ after: stringSchema(), to: stringSchema() })),
          },
          { others: enumSchema(['allow', 'deny']) },
        ),
      }),
    ),
    stops: arraySchema(stopRef),
    renderers: arraySchema(
      structSchema({ as: enumSchema(['markdown', 'xml', 'json']) }, { tools: namesSchema, models: namesSchema }),
    ),
    examples: arraySchema(
      structSchema({ title: stringSchema(), stop: stringSchema(), history: stepsSchema, stops: booleanSchema() }),
    ),
  },
);

function tuningSchema(): DataSchema {
  return recordSchema(
    structSchema({}, { threshold: numberSchema(0), cooldown: integerSchema(0), off: booleanSchema() }),
  );
}
