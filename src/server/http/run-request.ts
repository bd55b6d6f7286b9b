// What somebody who begins a run may wish for it: held to a schema, to the folders of this server, to their role and to their tenant.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { isPathInside, type FairleadError, type FleetRun, type JsonObject, type NewRun } from '../../core/index.ts';
import { findRunDifference } from '../../fleet/enqueue-once.ts';
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

/** The name under which clients ask for whatever model is set here. */
export const defaultModelAlias = 'fairlead';

const modelSchema = z.string().min(1).max(300);

/** How the agent of a run is to be made, as far as a caller may say. */
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

/** The models that are to examine an answer. */
export const judgeModelsSchema: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(modelSchema).max(16).optional();

/** The answer that is to be examined. */
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

/** What is looked at of a request to begin something. */
export type RunRequestContext = { readonly context: ServerContext; readonly caller: Caller };

/** The run that a wish comes to; throws where it wants more than whoever started the server allows. */
export function authorizeRun(
  { context, caller }: RunRequestContext,
  { settings: wished = {}, ...run }: NewRun,
): NewRun {
  if (wished['auto'] === true && !hasRole(caller.role, 'operator'))
    throw createHttpError(
      'server/role',
      `A key of a ${caller.role} may not begin a run with auto: it needs the role operator.`,
    );
  const { tenant = run.tenant } = caller;
  if (run.tenant !== undefined && run.tenant !== tenant)
    throw createHttpError('server/role', `This key begins runs for the tenant ${tenant} alone.`);
  const { folders } = context;
  const folder = resolveRunFolder(folders, wished['folder']);
  // The list of models that can be asked for has the one that is set here under this name.
  const isAny = wished['model'] === defaultModelAlias;
  return {
    ...run,
    ...(tenant === undefined ? {} : { tenant }),
    // Whoever works on it looks again: what lies in a folder may have been changed by then.
    settings: JSON.parse(
      JSON.stringify({ ...wished, ...(isAny ? { model: undefined } : {}), folder, within: folders }),
    ) as JsonObject,
  };
}

function resolveRunFolder(folders: ServerContext['folders'], wished: unknown): string {
  const [usual] = folders;
  if (typeof wished !== 'string') return usual;
  const named = wished.includes('\0') ? undefined : path.resolve(usual, wished);
  const found = named === undefined ? undefined : resolveRealPath(named);
  if (found !== undefined && folders.some((folder) => isPathInside(folder, found))) return found;
  throw createHttpError('server/wrong-folder', 'Runs of this server do not work in that folder.', {
    hint: `They work in ${folders.join(', ')}; fairlead serve --folder <folder> opens another.`,
  });
}

/** A path without links, as far as it is there: a worker may be on another machine. */
export function resolveRealPath(named: string): string {
  try {
    return realpathSync(named);
  } catch {
    const above = path.dirname(named);
    return above === named ? named : path.join(resolveRealPath(above), path.basename(named));
  }
}

/** Throws where the run that is there under an id is another than the one that is wanted under it. */
export function assertSameRun(known: FleetRun, wanted: NewRun): void {
  if (findRunDifference(known, wanted)) throw createRunConflictError(known.id);
}

/** Why an id cannot stand for a run; what it stands for is told to nobody, because it may be somebody else's. */
export const createRunConflictError = (id: string): FairleadError =>
  createHttpError('server/conflict', `The id ${id} stands for another run already.`, {
    hint: 'Give each thing that is asked an Idempotency-Key, or an id, of its own.',
  });
