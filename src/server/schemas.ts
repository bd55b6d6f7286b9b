// The shapes of what goes over HTTP; the OpenAPI document is made of them, and what is asked is held to them.
import { z } from 'zod';
import type {
  TenantBudget,
  BudgetAmount,
  Blame,
  Event,
  FleetRun,
  Json,
  JsonObject,
  Message,
  ProviderMetadata,
  NewRun,
  ApprovalQuestion,
  QueueLimits,
  RunStatus,
  Schedule,
  SessionInfo,
  UsageTotals,
  KillSwitchState,
  StopReason,
  RunStats,
  WorkerInfo,
} from '../core/index.ts';
import { settings } from './wishes.ts';

/** What came as JSON is JSON. */
const json = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;
const seconds = z.iso.datetime();
const count = z.number().int().min(0);

/** A name in a path or a body: no control characters, not endless. */
export const name: z.ZodString = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\w.:@-]+$/, 'letters, digits and . : @ _ - only');

/** What is asked of a model. */
export const words: z.ZodString = z.string().min(1).max(1_000_000);

/** Each word of a union under itself, so that none can be left out. */
type Words<T extends string> = { readonly [K in T]: K };

const blames: Words<Blame> = {
  user: 'user',
  model: 'model',
  provider: 'provider',
  tool: 'tool',
  store: 'store',
  harness: 'harness',
};

const reasons: Words<StopReason> = {
  answered: 'answered',
  'task-complete': 'task-complete',
  abstained: 'abstained',
  truncated: 'truncated',
  'max-turns': 'max-turns',
  'token-budget': 'token-budget',
  'money-budget': 'money-budget',
  'call-budget': 'call-budget',
  time: 'time',
  'error-threshold': 'error-threshold',
  stuck: 'stuck',
  rule: 'rule',
  'kill-switch': 'kill-switch',
  cancelled: 'cancelled',
  'provider-error': 'provider-error',
};

/** Where a run stands. */
export const status: z.ZodType<RunStatus> = z.enum(['queued', 'running', 'resting', 'ended']);

const spent = z.object({
  turns: z.number(),
  calls: z.number(),
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  usd: z.number(),
  turnsWithoutPrice: z.number(),
  ms: z.number(),
});

const failure = z.object({
  code: z.string(),
  message: z.string(),
  blame: z.enum(blames),
  retry: z.boolean(),
  hint: z.string().exactOptional(),
});

const question = z.object({
  call: z.string(),
  tool: z.string(),
  question: z.string(),
  kind: z.enum(['unknown-outcome', 'client-tool']).exactOptional(),
});

const run = z.object({
  id: z.string(),
  words: z.string(),
  kind: z.string(),
  settings: json,
  session: z.string(),
  tenant: z.string(),
  priority: z.number(),
  parent: z.string().exactOptional(),
  status,
  attempts: count,
  queued: z.string(),
  started: z.string().exactOptional(),
  ended: z.string().exactOptional(),
  notBefore: z.string().exactOptional(),
  worker: z.string().exactOptional(),
  version: z.string().exactOptional(),
  questions: z.array(question),
  outcome: z
    .object({
      reason: z.enum(reasons),
      detail: z.string().exactOptional(),
      text: z.string(),
      error: failure.exactOptional(),
      spent,
      handed: z
        .array(z.object({ id: z.string(), tool: z.string(), input: z.unknown() as z.ZodType<Json> }))
        .exactOptional(),
    })
    .exactOptional(),
});

const newRun = z.strictObject({
  id: name.exactOptional(),
  words,
  kind: z.enum(['run', 'plan', 'verify']).exactOptional(),
  settings: settings.exactOptional(),
  session: name.exactOptional(),
  tenant: name.exactOptional(),
  priority: z.number().int().min(-1000).max(1000).exactOptional(),
  notBefore: seconds.exactOptional(),
  parent: name.exactOptional(),
});

const event = z.looseObject({
  type: z.string(),
  seq: count,
  id: z.string(),
  parent: z.string().nullable(),
  time: z.string(),
});

const meta = z.strictObject({ family: z.string(), data: json }) satisfies z.ZodType<ProviderMetadata>;

const file = z.strictObject({
  type: z.literal('file'),
  mediaType: z.string(),
  data: z.string(),
  name: z.string().exactOptional(),
  meta: meta.exactOptional(),
});

const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), meta: meta.exactOptional() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), meta: meta.exactOptional() }),
  file,
  z.strictObject({
    type: z.literal('tool-call'),
    id: z.string(),
    tool: z.string(),
    input: z.unknown() as unknown as z.ZodType<Json>,
    invalid: z.string().exactOptional(),
    meta: meta.exactOptional(),
  }),
  z.strictObject({
    type: z.literal('tool-result'),
    id: z.string(),
    tool: z.string(),
    text: z.string(),
    failed: z.boolean(),
    files: z.array(file).exactOptional(),
  }),
]);

const message = z.strictObject({ role: z.enum(['user', 'assistant', 'tool']), parts: z.array(part) });

const session = z.object({
  session: z.string(),
  name: z.string().exactOptional(),
  begun: z.string(),
  changed: z.string(),
  events: count,
  holder: z.string().exactOptional(),
});

const queueLimits = z.strictObject({
  concurrency: z.number().int().min(1).exactOptional(),
  tenantConcurrency: z.number().int().min(1).exactOptional(),
  rate: z.strictObject({ runs: z.number().int().min(1), ms: z.number().int().min(1) }).exactOptional(),
});

const schedule = z.object({
  name: z.string(),
  cron: z.string(),
  run: newRun.omit({ id: true }).extend({ kind: z.string().exactOptional(), settings: json.exactOptional() }),
});

const standing = z.object({
  stopped: z.boolean(),
  why: z.string().exactOptional(),
  by: z.string().exactOptional(),
  since: z.string().exactOptional(),
});

const worker = z.object({
  worker: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  begun: z.string(),
  seen: z.string(),
  running: z.number(),
  about: json,
});

const amount = z.object({ usd: z.number(), tokens: z.number() });

const allowance = z.object({
  tenant: z.string(),
  period: z.enum(['day', 'month', 'ever']),
  usd: z.number().exactOptional(),
  tokens: z.number().exactOptional(),
  spent: amount,
  held: amount,
});

const percentiles = z.tuple([z.number(), z.number(), z.number()]);

const tally = z.object({
  from: z.string(),
  ended: count,
  reasons: z.partialRecord(z.enum(reasons), z.number()),
  usd: z.number(),
  tokens: z.number(),
  waited: percentiles.optional(),
  took: percentiles.optional(),
});

const fault = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().exactOptional() }),
});

/** A run that comes again; it has a new id each time. */
export const recurring: z.ZodType<Omit<NewRun, 'id'>> = newRun.omit({ id: true });

/** The shapes that have a name of their own in the OpenAPI document. */
export const shapes: Shapes = {
  Run: run,
  NewRun: newRun,
  Question: question,
  Event: event,
  Message: message,
  Session: session,
  QueueLimits: queueLimits,
  Schedule: schedule,
  Standing: standing,
  Worker: worker,
  Allowance: allowance,
  Tally: tally,
  Spent: spent,
  Fault: fault,
};

type Shapes = {
  readonly Run: z.ZodType<FleetRun>;
  readonly NewRun: z.ZodType<NewRun>;
  readonly Question: z.ZodType<ApprovalQuestion>;
  readonly Event: z.ZodType<Pick<Event, 'seq' | 'id' | 'parent' | 'time'>>;
  readonly Message: z.ZodType<Message>;
  readonly Session: z.ZodType<SessionInfo>;
  readonly QueueLimits: z.ZodType<QueueLimits>;
  readonly Schedule: z.ZodType<Schedule>;
  readonly Standing: z.ZodType<KillSwitchState>;
  readonly Worker: z.ZodType<WorkerInfo>;
  readonly Allowance: z.ZodType<TenantBudget & { readonly spent: BudgetAmount; readonly held: BudgetAmount }>;
  readonly Tally: z.ZodType<Omit<RunStats, 'reasons' | 'waited' | 'took'>>;
  readonly Spent: z.ZodType<UsageTotals>;
  readonly Fault: z.ZodType<{ readonly error: { readonly code: string; readonly message: string } }>;
};

/** How long a list may be. */
export const most: z.ZodOptional<z.ZodCoercedNumber> = z.coerce.number().int().min(1).max(1000).optional();

/** The seq after which to go on. */
export const from: z.ZodOptional<z.ZodCoercedNumber> = z.coerce.number().int().min(0).optional();
