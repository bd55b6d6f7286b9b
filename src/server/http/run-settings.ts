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

/** The settings of a queued run. */
export const runSettingsSchema: z.ZodType<JsonObject> = z.strictObject({
  ...agentOptionSchemas,
  private: z.boolean().optional(),
  tools: z.boolean().optional(),
  answer: z.record(z.string(), z.unknown()).optional(),
  claim: claimSchema,
  models: judgeModelsSchema,
}) as unknown as z.ZodType<JsonObject>;
