// HTTP routes of plans: start one, read it with the state of its steps, consent to it, and cancel or steer one step.
import { z } from 'zod';
import type { FleetRun, JsonObject } from '../../../core/index.ts';
import { answerPlan, cancelStep, maxPlanCaps, readPlan, steerStep } from '../../../fleet/index.ts';
import type { ServerContext } from '../context.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { respondWithRun, runRequestFields, startedRunSchema, waitQuerySchema } from '../run-response.ts';
import { requireRun, startRun } from '../runs.ts';
import { apiSchemas, promptSchema } from '../schemas.ts';

const costSchema = z.object({ usd: z.number(), tokens: z.number() });

const capsSchema = z.object({ steps: z.number(), depth: z.number(), parallel: z.number() });

const planSchema = z.looseObject({
  run: z.string(),
  stage: z.enum(['planning', 'proposed', 'running', 'answering', 'ended']),
  revision: z.number(),
  start: z.looseObject({ caps: capsSchema, attempts: z.number(), replans: z.number() }).exactOptional(),
  estimate: z
    .object({
      requests: z.number(),
      tokens: z.number(),
      usd: z.number().exactOptional(),
      maxUsd: z.number().exactOptional(),
    })
    .exactOptional(),
  consent: z.string().exactOptional(),
  rejected: z.array(z.array(z.string())),
  steps: z.array(
    z.looseObject({
      id: z.string(),
      task: z.string(),
      after: z.array(z.string()),
      depth: z.number(),
      revision: z.number(),
      status: z.enum(['waiting', 'under-way', 'verifying', 'done', 'failed', 'blocked', 'cancelled', 'replaced']),
      attempt: z.number(),
      why: z.string().exactOptional(),
      run: z.string().exactOptional(),
      cost: costSchema,
    }),
  ),
  cost: costSchema,
});

const givenStepSchema = z.strictObject({
  id: z.string().min(1).max(40),
  task: z.string().min(1).max(20_000),
  after: z.array(z.string().max(40)).max(maxPlanCaps.steps).optional(),
  verify: z.boolean().optional(),
  tools: z.array(z.string().max(200)).max(1000).optional(),
  agent: z.string().max(200).optional(),
  auto: z.boolean().optional(),
  limits: z
    .strictObject({
      usd: z.number().positive().optional(),
      tokens: z.number().positive().optional(),
      turns: z.number().positive().optional(),
    })
    .optional(),
});

/** The options of a plan in a request. */
const planOptionFields = {
  caps: z
    .strictObject({
      steps: z.number().int().min(1).max(maxPlanCaps.steps).optional(),
      depth: z.number().int().min(1).max(maxPlanCaps.depth).optional(),
      parallel: z.number().int().min(1).max(maxPlanCaps.parallel).optional(),
    })
    .optional(),
  attempts: z.number().int().min(1).max(5).optional(),
  replans: z.number().int().min(0).max(3).optional(),
  verifier: z.string().min(1).max(300).optional(),
  verify: z.enum(['marked', 'all', 'none']).optional(),
  confirm: z.boolean().optional(),
  confirmAbove: z.number().min(0).max(1e9).optional(),
  steps: z.array(givenStepSchema).min(1).max(maxPlanCaps.steps).optional(),
};

/** Returns the run of a plan; throws 409 if it is another kind of run. */
async function requirePlan(context: Pick<ServerContext, 'store'>, id: string): Promise<FleetRun> {
  const run = await requireRun(context, id);
  if (run.kind === 'plan') return run;
  throw createHttpError('server/conflict', `Run ${id.slice(0, 200)} is not a plan.`);
}

const runResponseSchema = z.object({ run: apiSchemas.Run });

/** The routes of plans. */
export const planRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/orchestrate',
    role: 'runner',
    summary:
      'Starts a run that splits a task into steps, runs them as child runs and combines their answers. The plan is checked, and waits for consent above an estimate of `confirmAbove` dollars, 1 by default, unless `confirm` is false.',
    schemas: { query: waitQuerySchema, body: z.strictObject({ ...runRequestFields, ...planOptionFields }) },
    responses: { 200: startedRunSchema, 202: startedRunSchema },
    async handle(request) {
      const { caps, attempts, replans, verifier, verify, confirm, confirmAbove, steps, ...body } = request.body;
      const options = { caps, attempts, replans, verifier, verify, confirm, confirmAbove, steps };
      const plan = JSON.parse(JSON.stringify(options)) as JsonObject;
      const settings = Object.keys(plan).length > 0 ? { plan } : {};
      return respondWithRun(request, request.query, await startRun(request, 'plan', body, settings));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/orchestrate/{id}',
    role: 'reader',
    summary: 'A plan by the id of its run: caps, estimate, and its steps with their states.',
    responses: { 200: z.object({ run: apiSchemas.Run, plan: planSchema.exactOptional() }) },
    async handle({ context, params }) {
      const run = await requireRun(context, params['id'] ?? '');
      return { json: run.kind === 'plan' ? { run, plan: await readPlan(context.store, run) } : { run } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/orchestrate/{id}/consent',
    role: 'runner',
    summary: 'Consents to a plan that waits for it, or refuses it.',
    schemas: { body: z.strictObject({ allowed: z.boolean() }) },
    responses: { 202: runResponseSchema },
    async handle({ context, params, body, caller }) {
      const run = await requirePlan(context, params['id'] ?? '');
      await answerPlan(context.store, run, body.allowed, caller.name);
      return { status: 202, json: { run } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/orchestrate/{id}/steps/{step}/cancel',
    role: 'runner',
    summary: 'Cancels one step of a plan; steps that depend on it are blocked, the others go on.',
    responses: { 202: runResponseSchema },
    async handle({ context, params, caller }) {
      const run = await requirePlan(context, params['id'] ?? '');
      await cancelStep(context.store, run, params['step'] ?? '', caller.name);
      return { status: 202, json: { run } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/orchestrate/{id}/steps/{step}/steer',
    role: 'runner',
    summary: 'Sends a message to one step of a plan: its active attempt reads it, or its next one.',
    schemas: { body: z.strictObject({ text: promptSchema }) },
    responses: { 202: runResponseSchema },
    async handle({ context, params, body, caller }) {
      const run = await requirePlan(context, params['id'] ?? '');
      await steerStep(context.store, run, params['step'] ?? '', body.text, caller.name);
      return { status: 202, json: { run } };
    },
  }),
];
