// HTTP routes of verification: start one as a run, read its progress and report, and the stored calibrations.
import { z } from 'zod';
import type { FleetRun, JsonObject } from '../../../core/index.ts';
import { readTaskNotes } from '../../../fleet/index.ts';
import type { ServerContext } from '../context.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { respondWithRun, runRequestFields, startedRunSchema, waitQuerySchema } from '../run-response.ts';
import { claimSchema, judgeModelsSchema, verifyOptionSchemas } from '../run-settings.ts';
import { requireRun, startRun } from '../runs.ts';
import { apiSchemas, promptSchema } from '../schemas.ts';

const reportSchema = z.looseObject({
  outcome: z.enum(['verified', 'abstained', 'not-verified']),
  why: z.string(),
  answer: z.string(),
  claims: z.array(z.looseObject({ id: z.string(), text: z.string(), verdict: z.looseObject({ type: z.string() }) })),
  citations: z.array(z.looseObject({ number: z.number() })),
});

const progressSchema = z.looseObject({
  stage: z.string(),
  text: z.string(),
  done: z.number(),
  total: z.number(),
});

const curvePointSchema = z.looseObject({
  threshold: z.number(),
  coverage: z.number(),
  errorRate: z.number(),
  interval: z.tuple([z.number(), z.number()]),
});

const calibrationSchema = z.looseObject({
  model: z.string(),
  task: z.string(),
  verifier: z.string(),
  when: z.string(),
  dataset: z.string(),
  labels: z.number(),
  errors: z.number(),
  maxErrorRate: z.number(),
  probability: z.number(),
  threshold: z.number().exactOptional(),
  why: z.string(),
  curve: z.looseObject({ points: z.array(curvePointSchema), area: z.number().exactOptional() }),
});

/** Reads the progress and the report of a verification from its session. */
async function readVerification(
  { store }: Pick<ServerContext, 'store'>,
  run: FleetRun,
): Promise<{ readonly progress?: JsonObject; readonly report?: unknown }> {
  if (run.kind !== 'verify' || run.started === undefined) return {};
  const log = await store.sessions.reader(run.session);
  try {
    const { progress, result } = await readTaskNotes(log, run);
    const report = result?.['report'];
    return { ...(progress && report === undefined ? { progress } : {}), ...(report === undefined ? {} : { report }) };
  } finally {
    await log.close();
  }
}

/** The routes of verification. */
export const verifyRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/verify',
    role: 'runner',
    summary:
      'Starts a run that verifies an answer claim by claim against documents and by models of other families, or that answers the question with verification. `wait=<seconds>` responds with the report.',
    schemas: {
      query: waitQuerySchema,
      body: z.strictObject({
        ...runRequestFields,
        prompt: promptSchema.optional(),
        question: promptSchema.optional(),
        answer: claimSchema,
        models: judgeModelsSchema,
        judges: judgeModelsSchema,
        ...verifyOptionSchemas,
      }),
    },
    responses: { 200: startedRunSchema.extend({ report: reportSchema.exactOptional() }), 202: startedRunSchema },
    async handle(request) {
      const { prompt, question, answer, models, judges = models, documents, quorum, ...rest } = request.body;
      const { maxErrorRate, drafts, samples, chain, independent, ...body } = rest;
      const asked = question ?? prompt;
      if (asked === undefined)
        throw createHttpError('server/bad-request', 'A verification needs a `question`.', { param: 'question' });
      const options = { documents, quorum, maxErrorRate, drafts, samples, chain, independent };
      const settings = JSON.parse(JSON.stringify({ claim: answer, models: judges, ...options })) as JsonObject;
      const run = await startRun(request, 'verify', { ...body, prompt: asked }, settings);
      return respondWithRun(request, request.query, run, (latest) => readVerification(request.context, latest));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/verify/{id}',
    role: 'reader',
    summary: 'A verification by the id of its run: its progress, and its report once it has ended.',
    responses: {
      200: z.object({
        run: apiSchemas.Run,
        progress: progressSchema.exactOptional(),
        report: reportSchema.exactOptional(),
      }),
    },
    async handle({ context, params }) {
      const run = await requireRun(context, params['id'] ?? '');
      return { json: { run, ...(await readVerification(context, run)) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/calibrations',
    role: 'reader',
    summary:
      'The stored calibrations with their risk-coverage curves: from which confidence answers are accepted, per model, task and verifier.',
    responses: { 200: z.object({ calibrations: z.array(calibrationSchema), problems: z.array(z.string()) }) },
    handle({ context, caller }) {
      const { calibrations, problems } = context.calibrations();
      // A problem names a file of the operator's machine.
      return { json: { calibrations, problems: caller.tenant === undefined ? problems : [] } };
    },
  }),
];
