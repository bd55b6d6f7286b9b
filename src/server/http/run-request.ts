// Run requests: schemas of run settings, and authorization by role, tenant and allowed folders.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { isPathInside, type FairleadError, type FleetRun, type JsonObject, type NewRun } from '../../core/index.ts';
import { findRunDifference } from '../../fleet/index.ts';
import { createHttpError } from './errors.ts';
import { hasRole, type Caller } from './keys.ts';
import type { ServerContext } from './context.ts';

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

/** The context and the client of a request that starts a run. */
export type RunRequestContext = { readonly context: ServerContext; readonly caller: Caller };

/** Returns the run that a request may start; throws 403 if its role, tenant or folder is not allowed. */
export function authorizeRun(
  { context, caller }: RunRequestContext,
  { settings: requested = {}, ...run }: NewRun,
): NewRun {
  if (requested['auto'] === true && !hasRole(caller.role, 'operator'))
    throw createHttpError(
      'server/role',
      `The role ${caller.role} may not start a run with auto: true. It needs the role operator.`,
    );
  const { tenant = run.tenant } = caller;
  if (run.tenant !== undefined && run.tenant !== tenant)
    throw createHttpError('server/role', `This key may start runs for the tenant ${tenant} only.`);
  const { folders } = context;
  const folder = resolveRunFolder(folders, requested['folder']);
  // GET /v1/models lists the default model under this name.
  const isAny = requested['model'] === defaultModelAlias;
  return {
    ...run,
    ...(tenant === undefined ? {} : { tenant }),
    // The worker checks the folder again: a link may have changed by then.
    settings: JSON.parse(
      JSON.stringify({ ...requested, ...(isAny ? { model: undefined } : {}), folder, within: folders }),
    ) as JsonObject,
  };
}

function resolveRunFolder(folders: ServerContext['folders'], requested: unknown): string {
  const [defaultFolder] = folders;
  if (typeof requested !== 'string') return defaultFolder;
  const found = requested.includes('\0') ? undefined : resolveRealPath(path.resolve(defaultFolder, requested));
  if (found !== undefined && folders.some((folder) => isPathInside(folder, found))) return found;
  throw createHttpError('server/wrong-folder', 'Folder not allowed.', {
    hint: `Allowed folders: ${folders.join(', ')}. Add one with fairlead serve --folder <folder>.`,
  });
}

/** Resolves the links of a path, as far as it exists on this machine: a worker may run on another one. */
export function resolveRealPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(resolveRealPath(parent), path.basename(file));
  }
}

/** Throws 409 if an existing run differs from the requested run with the same id. */
export function assertSameRun(known: FleetRun, requested: NewRun): void {
  if (findRunDifference(known, requested)) throw createRunConflictError(known.id);
}

/** The error for an id that another run has. It does not describe that run, which may belong to another client. */
export const createRunConflictError = (id: string): FairleadError =>
  createHttpError('server/conflict', `The id ${id} is taken by another run.`, {
    hint: 'Use a new Idempotency-Key or id for each run.',
  });
