// Zod schemas of HTTP requests and responses; the OpenAPI document is generated from them.
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
} from '../../core/index.ts';
import { runSettingsSchema } from './run-settings.ts';

const jsonObjectSchema = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;
const dateTimeSchema = z.iso.datetime();
const countSchema = z.number().int().min(0);

/** An id or a name in a path or a body. */
export const nameSchema: z.ZodString = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\w.:@-]+$/, 'letters, digits and . : @ _ - only');

/** The prompt of a run or the text of a message. */
export const promptSchema: z.ZodString = z.string().min(1).max(1_000_000);

/** An enum whose keys must be all members of a union. */
type EnumMap<T extends string> = { readonly [K in T]: K };

const blames: EnumMap<Blame> = {
  user: 'user',
  model: 'model',
  provider: 'provider',
  tool: 'tool',
  store: 'store',
  harness: 'harness',
};

const stopReasons: EnumMap<StopReason> = {
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

/** The status of a run. */
export const runStatusSchema: z.ZodType<RunStatus> = z.enum(['queued', 'running', 'waiting', 'ended']);

const usageSchema = z.object({
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

const failureSchema = z.object({
  code: z.string(),
  message: z.string(),
  blame: z.enum(blames),
  retry: z.boolean(),
  hint: z.string().exactOptional(),
});

/** What the user can allow with the answer to a question. */
export const approvalScopesSchema: z.ZodReadonly<
  z.ZodArray<
    z.ZodObject<{
      scope: z.ZodString;
      label: z.ZodString;
      duration: z.ZodExactOptional<z.ZodEnum<{ session: 'session'; project: 'project' }>>;
    }>
  >
> = z
  .array(z.object({ scope: z.string(), label: z.string(), duration: z.enum(['session', 'project']).exactOptional() }))
  .readonly();

const questionSchema = z.object({
  call: z.string(),
  tool: z.string(),
  question: z.string(),
  kind: z.enum(['unknown-outcome', 'client-tool']).exactOptional(),
  scopes: approvalScopesSchema.exactOptional(),
});

const runSchema = z.object({
  id: z.string(),
  prompt: z.string(),
  kind: z.string(),
  settings: jsonObjectSchema,
  session: z.string(),
  tenant: z.string(),
  priority: z.number(),
  parent: z.string().exactOptional(),
  status: runStatusSchema,
  attempts: countSchema,
  queued: z.string(),
  started: z.string().exactOptional(),
  ended: z.string().exactOptional(),
  notBefore: z.string().exactOptional(),
  worker: z.string().exactOptional(),
  version: z.string().exactOptional(),
  pendingApprovals: z.array(questionSchema),
  outcome: z
    .object({
      reason: z.enum(stopReasons),
      detail: z.string().exactOptional(),
      text: z.string(),
      originalText: z.string().exactOptional(),
      error: failureSchema.exactOptional(),
      spent: usageSchema,
      clientToolCalls: z
        .array(z.object({ id: z.string(), tool: z.string(), input: z.unknown() as z.ZodType<Json> }))
        .exactOptional(),
    })
    .exactOptional(),
});

const newRunSchema = z.strictObject({
  id: nameSchema.exactOptional(),
  prompt: promptSchema,
  kind: z.enum(['run', 'plan', 'verify']).exactOptional(),
  settings: runSettingsSchema.exactOptional(),
  session: nameSchema.exactOptional(),
  tenant: nameSchema.exactOptional(),
  priority: z.number().int().min(-1000).max(1000).exactOptional(),
  notBefore: dateTimeSchema.exactOptional(),
  parent: nameSchema.exactOptional(),
});

const eventSchema = z.looseObject({
  type: z.string(),
  seq: countSchema,
  id: z.string(),
  parent: z.string().nullable(),
  time: z.string(),
});

const metaSchema = z.strictObject({ family: z.string(), data: jsonObjectSchema }) satisfies z.ZodType<ProviderMetadata>;

const filePartSchema = z.strictObject({
  type: z.literal('file'),
  mediaType: z.string(),
  data: z.string(),
  name: z.string().exactOptional(),
  meta: metaSchema.exactOptional(),
});

const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), meta: metaSchema.exactOptional() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), meta: metaSchema.exactOptional() }),
  filePartSchema,
  z.strictObject({
    type: z.literal('tool-call'),
    id: z.string(),
    tool: z.string(),
    input: z.unknown() as unknown as z.ZodType<Json>,
    invalid: z.string().exactOptional(),
    meta: metaSchema.exactOptional(),
  }),
  z.strictObject({
    type: z.literal('tool-result'),
    id: z.string(),
    tool: z.string(),
    text: z.string(),
    failed: z.boolean(),
    nonce: z.string().exactOptional(),
    spotlight: z.enum(['datamarks', 'base64']).exactOptional(),
    files: z.array(filePartSchema).exactOptional(),
  }),
]);

const messageSchema = z.strictObject({ role: z.enum(['user', 'assistant', 'tool']), parts: z.array(partSchema) });

const sessionSchema = z.object({
  session: z.string(),
  name: z.string().exactOptional(),
  createdAt: z.string(),
  updatedAt: z.string(),
  events: countSchema,
  tenant: z.string().exactOptional(),
  holder: z.string().exactOptional(),
});

const queueLimitsSchema = z.strictObject({
  concurrency: z.number().int().min(1).exactOptional(),
  tenantConcurrency: z.number().int().min(1).exactOptional(),
  rate: z.strictObject({ runs: z.number().int().min(1), ms: z.number().int().min(1) }).exactOptional(),
});

const scheduleSchema = z.object({
  name: z.string(),
  cron: z.string(),
  run: newRunSchema
    .omit({ id: true })
    .extend({ kind: z.string().exactOptional(), settings: jsonObjectSchema.exactOptional() }),
});

const killSwitchSchema = z.object({
  stopped: z.boolean(),
  reason: z.string().exactOptional(),
  by: z.string().exactOptional(),
  since: z.string().exactOptional(),
});

const workerSchema = z.object({
  worker: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  running: z.number(),
  blockedMs: z.number().exactOptional(),
  info: jsonObjectSchema,
});

const amountSchema = z.object({ usd: z.number(), tokens: z.number() });

const budgetSchema = z.object({
  tenant: z.string(),
  period: z.enum(['day', 'month', 'ever']),
  usd: z.number().exactOptional(),
  tokens: z.number().exactOptional(),
  spent: amountSchema,
  reserved: amountSchema,
});

const percentilesSchema = z.tuple([z.number(), z.number(), z.number()]);

const runStatsSchema = z.object({
  from: z.string(),
  ended: countSchema,
  reasons: z.partialRecord(z.enum(stopReasons), z.number()),
  usd: z.number(),
  tokens: z.number(),
  queueMs: percentilesSchema.optional(),
  durationMs: percentilesSchema.optional(),
});

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().exactOptional() }),
});

/** The run of a schedule: each time it is queued it gets a new id. */
export const recurringRunSchema: z.ZodType<Omit<NewRun, 'id'>> = newRunSchema.omit({ id: true });

/** The named schemas of the OpenAPI document. */
export const apiSchemas: ApiSchemas = {
  Run: runSchema,
  NewRun: newRunSchema,
  ApprovalQuestion: questionSchema,
  Event: eventSchema,
  Message: messageSchema,
  Session: sessionSchema,
  QueueLimits: queueLimitsSchema,
  Schedule: scheduleSchema,
  KillSwitchState: killSwitchSchema,
  Worker: workerSchema,
  Budget: budgetSchema,
  RunStats: runStatsSchema,
  Usage: usageSchema,
  Error: errorSchema,
};

type ApiSchemas = {
  readonly Run: z.ZodType<FleetRun>;
  readonly NewRun: z.ZodType<NewRun>;
  readonly ApprovalQuestion: z.ZodType<ApprovalQuestion>;
  readonly Event: z.ZodType<Pick<Event, 'seq' | 'id' | 'parent' | 'time'>>;
  readonly Message: z.ZodType<Message>;
  readonly Session: z.ZodType<SessionInfo>;
  readonly QueueLimits: z.ZodType<QueueLimits>;
  readonly Schedule: z.ZodType<Schedule>;
  readonly KillSwitchState: z.ZodType<KillSwitchState>;
  readonly Worker: z.ZodType<WorkerInfo>;
  readonly Budget: z.ZodType<TenantBudget & { readonly spent: BudgetAmount; readonly reserved: BudgetAmount }>;
  readonly RunStats: z.ZodType<Omit<RunStats, 'reasons' | 'queueMs' | 'durationMs'>>;
  readonly Usage: z.ZodType<UsageTotals>;
  readonly Error: z.ZodType<{ readonly error: { readonly code: string; readonly message: string } }>;
};

/** The maximum length of a list. */
export const maxItemsSchema: z.ZodOptional<z.ZodCoercedNumber> = z.coerce.number().int().min(1).max(1000).optional();

/** The sequence number after which events are returned. */
export const fromSeqSchema: z.ZodOptional<z.ZodCoercedNumber> = z.coerce.number().int().min(0).optional();
