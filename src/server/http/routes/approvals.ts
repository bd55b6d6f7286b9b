// HTTP routes of approvals: lists the pending ones, and resolves one.
import { z } from 'zod';
import { assertAcceptsMessages } from '../../../fleet/index.ts';
import { withSessionReader } from '../../../sessions/index.ts';
import { assertAnswer } from '../approval-scopes.ts';
import { createListBound, listRunsWithinBounds } from '../bounded-lists.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas, approvalScopesSchema } from '../schemas.ts';
import { findActiveRun, listPendingApprovals, readSessionState, sendToSession } from '../sessions.ts';

type PendingApprovalShape = {
  call: z.ZodString;
  tool: z.ZodString;
  question: z.ZodString;
  kind: z.ZodOptional<z.ZodEnum<{ 'unknown-outcome': 'unknown-outcome'; 'client-tool': 'client-tool' }>>;
  preview: z.ZodOptional<z.ZodUnknown>;
  scopes: z.ZodOptional<typeof approvalScopesSchema>;
  input: z.ZodUnknown;
};

/** A pending approval in a response. */
export const pendingApprovalSchema: z.ZodObject<PendingApprovalShape> = z.object({
  call: z.string(),
  tool: z.string(),
  question: z.string(),
  kind: z.enum(['unknown-outcome', 'client-tool']).optional(),
  /** What the call would do: the diff of each file, or the command with its effects. */
  preview: z.unknown().optional(),
  /** What the answer can allow; only this call if it is absent. */
  scopes: approvalScopesSchema.optional(),
  input: z.unknown(),
});
const pendingRunSchema = z.object({
  run: z.string(),
  session: z.string(),
  prompt: z.string(),
  since: z.string(),
  pendingApprovals: z.array(pendingApprovalSchema),
});
type PendingRun = z.input<typeof pendingRunSchema>;

/** The routes of pending approvals. */
export const approvalRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/answer',
    role: 'runner',
    summary:
      'Approves or denies a tool call that a run waits for. `scope` allows also later calls: one of `scopes` of the question, `once` by default. `reply` says to the model why the call is denied. `happened` says that an effect with an unknown outcome took place.',
    schemas: {
      body: z.strictObject({
        call: z.string().min(1).max(300),
        /** The question as it was shown: the request is refused if the run asks something else by now. */
        question: z.string().max(1_000_000).optional(),
        allowed: z.boolean(),
        happened: z.boolean().optional(),
        scope: z.string().min(1).max(100).optional(),
        reply: z.string().trim().min(1).max(10_000).optional(),
      }),
    },
    responses: { 202: z.object({ run: apiSchemas.Run }) },
    async handle({ context, params, body: { call, question, allowed, happened, scope, reply }, caller }) {
      const id = params['id'] ?? '';
      const active = await findActiveRun(context.store, id);
      const isConsent = active?.kind === 'plan' && active.pendingApprovals.some((each) => each.call === call);
      if (active && !isConsent) await assertAcceptsMessages(context.store, active);
      // The question of a plan is not a call in its session.
      const pending: readonly Readonly<Record<string, unknown>>[] = isConsent
        ? active.pendingApprovals
        : await withSessionReader(context.store, id, async (log) => listPendingApprovals(await readSessionState(log)));
      const current = pending.find((each) => each['call'] === call)?.['question'];
      if (typeof current !== 'string')
        throw createHttpError('server/conflict', `No pending approval for call ${call}.`);
      if (question !== undefined && question !== current)
        throw createHttpError('server/conflict', `The question about call ${call} has changed.`, {
          hint: 'Read GET /api/approvals again, then answer.',
        });
      const offered = active?.pendingApprovals.find((each) => each.call === call && each.question === current);
      assertAnswer({ allowed, scope, reply }, offered);
      const run = await sendToSession(context.store, id, {
        type: 'answer',
        call,
        question: current,
        allowed,
        by: caller.name,
        ...(happened === undefined ? {} : { happened }),
        ...(scope === undefined || scope === 'once' ? {} : { scope }),
        ...(reply === undefined ? {} : { reason: reply }),
      });
      return { status: 202, json: { run } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/approvals',
    role: 'reader',
    summary: 'The runs that wait for an approval, and their questions.',
    responses: {
      200: z.object({ approvals: z.array(pendingRunSchema) }),
    },
    async handle({ context }) {
      const { runs } = await listRunsWithinBounds(context.store, { status: 'waiting', limit: 200 });
      const hasRoom = createListBound();
      const approvals: PendingRun[] = [];
      // One after the other: the state of a session can be large.
      for (const { id, session, prompt, pendingApprovals, started, queued } of runs) {
        if (pendingApprovals.length === 0) continue;
        const state = await withSessionReader(context.store, session, readSessionState).catch(() => undefined);
        const inputs = new Map((state ? listPendingApprovals(state) : []).map((each) => [each['call'], each['input']]));
        const pending = pendingApprovals.map((each) => ({ ...each, input: inputs.get(each.call) ?? null }));
        const entry = { run: id, session, prompt, since: started ?? queued, pendingApprovals: pending };
        if (!hasRoom(entry)) break;
        approvals.push(entry);
      }
      return { json: { approvals } };
    },
  }),
];
