// Schemas of run settings that a client may send.
import { z } from 'zod';
import type { JsonObject } from '../../core/index.ts';

type RunLimitFields = Readonly<Partial<Record<'turns' | 'usd' | 'tokens' | 'ms', number | undefined>>>;

const runLimitsSchema: z.ZodType<RunLimitFields> = z.strictObject({
  turns: z.number().int().min(1).max(10_000).optional(),
  usd: z.number().positive().max(1e9).optional(),
  tokens: z.number().int().min(1).optional(),
  ms: z.number().int().min(1).optional(),
});

/** The model name that stands for the default model of the server. */
export const defaultModelAlias = 'fairlead';

const modelSchema = z.string().min(1).max(300);

/** The agent options that a client may set. */
export const agentOptionSchemas: AgentOptionSchemas = {
  model: modelSchema.optional(),
  folder: z.string().min(1).max(4096).optional(),
  auto: z.boolean().optional(),
  limits: runLimitsSchema.optional(),
};

type AgentOptionSchemas = {
  readonly model: z.ZodOptional<z.ZodString>;
  readonly folder: z.ZodOptional<z.ZodString>;
  readonly auto: z.ZodOptional<z.ZodBoolean>;
  readonly limits: z.ZodOptional<z.ZodType<RunLimitFields>>;
};

/** The models that check an answer. */
export const judgeModelsSchema: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(modelSchema).max(16).optional();

/** The answer that is checked. */
export const claimSchema: z.ZodOptional<z.ZodString> = z.string().max(1_000_000).optional();

type VerifyOptionSchemas = {
  readonly documents: z.ZodOptional<z.ZodArray<z.ZodObject<{ name: z.ZodString; text: z.ZodString }, z.core.$strict>>>;
  readonly chain: z.ZodOptional<z.ZodBoolean>;
  readonly independent: z.ZodOptional<z.ZodBoolean>;
} & Readonly<Record<'quorum' | 'maxErrorRate' | 'drafts' | 'samples', z.ZodOptional<z.ZodNumber>>>;

/** The options of a verification besides its answer and its judges. */
export const verifyOptionSchemas: VerifyOptionSchemas = {
  documents: z
    .array(z.strictObject({ name: z.string().min(1).max(300), text: z.string().max(2_000_000) }))
    .max(1000)
    .optional(),
  quorum: z.number().int().min(1).max(5).optional(),
  maxErrorRate: z.number().gt(0).lt(1).optional(),
  drafts: z.number().int().min(1).max(10).optional(),
  samples: z.number().int().min(5).max(20).optional(),
  chain: z.boolean().optional(),
  independent: z.boolean().optional(),
};

/** The settings of a queued run. */
export const runSettingsSchema: z.ZodType<JsonObject> = z.strictObject({
  ...agentOptionSchemas,
  approve: z.enum(['read-only', 'plan', 'ask']).optional(),
  private: z.boolean().optional(),
  tools: z.boolean().optional(),
  isolation: z.enum(['worktree', 'none']).optional(),
  verify: z.boolean().optional(),
  answer: z.record(z.string(), z.unknown()).optional(),
  claim: claimSchema,
  models: judgeModelsSchema,
  ...verifyOptionSchemas,
}) as unknown as z.ZodType<JsonObject>;
