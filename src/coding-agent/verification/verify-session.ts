// Verifies the last answer of a session with the results of its tools as evidence, and records the verification in its log.
import type { Session } from '../../agent/index.ts';
import {
  createMeter,
  formatOutcome,
  toVerificationRecord,
  verificationKey,
  verifyAnswer,
  type VerificationReport,
  type VerifyBudget,
  type VerifyProgress,
} from '../../checks/index.ts';
import {
  FairleadError,
  messageText,
  type Event,
  type Provider,
  type RunState,
  type Verdict,
} from '../../core/index.ts';
import type { ModelHost } from '../models/open-model.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { isPrivateSession } from '../private-sessions.ts';
import type { Settings } from '../settings/index.ts';
import { acceptReport } from './accept-report.ts';
import { getVerifySettings, openJudges } from './judges.ts';
import { collectSessionEvidence } from './session-evidence.ts';
import { createVerifyModel } from './verify-model.ts';
import { createAgeLookup, createFileLookup } from './workspace-files.ts';

/** The session whose answer is verified, and with what. */
export type VerifySessionContext = {
  readonly settings: Settings;
  readonly host: ModelHost;
  readonly session: Session;
  /** The model that answered. */
  readonly model: ResolvedModel;
  readonly isPrivate: boolean;
  readonly cwd?: string;
  /** Wraps each judge that is opened. */
  readonly wrapProvider?: (provider: Provider) => Provider;
};

/** Verifies the last answer of a session and records the result. Throws if there is no answer. */
export async function verifySession(
  context: VerifySessionContext,
  signal: AbortSignal,
  options: { readonly budget?: VerifyBudget; readonly onProgress?: (progress: VerifyProgress) => void } = {},
): Promise<VerificationReport> {
  const { settings, host, session, model, isPrivate, cwd } = context;
  const events: Event[] = [];
  for await (const batch of session.log.read()) events.push(...batch);
  const { question, answer } = findLastAnswer(events);
  if (answer === undefined)
    throw new FairleadError('verify/no-answer', 'There is no answer to verify yet.', { blame: 'user' });
  const judges = await openJudges({ settings, author: model, isPrivate }, host, context.wrapProvider);
  const { quorum, maxErrorRate, independent } = getVerifySettings(settings);
  const author = createVerifyModel(model.name, session.agent.provider, model.ref.provider);
  const meter = createMeter(options.budget, signal);
  const verified = await verifyAnswer({
    answer,
    ...(question === undefined ? {} : { question }),
    author,
    judges,
    quorum,
    ...(independent === undefined ? {} : { independent }),
    evidence: collectSessionEvidence(events, cwd === undefined ? {} : { isOlder: createAgeLookup(cwd) }),
    events,
    ...(cwd === undefined ? {} : { fileExists: createFileLookup([cwd]) }),
    meter,
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
    signal,
  });
  const target = { settings, author, meter, ...(question === undefined ? {} : { question }) };
  const report = maxErrorRate === undefined ? verified : await acceptReport(verified, { ...target, maxErrorRate });
  await recordVerification(session, report);
  return report;
}

/** Verifies the last answer of a conversation with the user. */
export const verifyConversation = (
  { settings, session, model, agent }: VerifiedConversation,
  signal: AbortSignal,
  onProgress: (progress: VerifyProgress) => void,
  notify: (text: string) => void,
): Promise<VerificationReport> =>
  verifySession(
    {
      settings,
      session,
      model,
      host: { confirm: async () => false, progress: () => {}, notify },
      isPrivate: settings.private || isPrivateSession(session),
      cwd: agent.workspace.cwd,
    },
    signal,
    { onProgress },
  );

/** A conversation as a verification sees it. */
export type VerifiedConversation = Pick<VerifySessionContext, 'settings' | 'session' | 'model'> & {
  readonly agent: { readonly workspace: { readonly cwd: string } };
};

/** Records a verification, with what it cost. */
export const recordVerification = (session: Session, report: VerificationReport): Promise<void> =>
  session.record(() => [
    {
      type: 'annotation-added',
      key: verificationKey,
      value: toVerificationRecord(report),
      spent: {
        input: report.spent.input,
        output: report.spent.output,
        usd: report.spent.usd,
        turnsWithoutPrice: report.spent.requestsWithoutPrice,
      },
    },
  ]);

/** The last answer of the model, and the message of the user that it is for. */
function findLastAnswer(events: readonly Event[]): { readonly question?: string; readonly answer?: string } {
  let question: string | undefined;
  let answer: string | undefined;
  for (const event of events) {
    if (event.type === 'input-received' && event.by === undefined && event.how !== 'continue')
      question = event.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    if (event.type === 'turn-ended')
      answer = messageText(event.message).trim() === '' ? answer : messageText(event.message);
  }
  return { ...(question === undefined ? {} : { question }), ...(answer === undefined ? {} : { answer }) };
}

/** Runs the verification as a check of a run: an answer that is not verified ends the run as an abstention. */
export async function runVerifyCheck(
  context: VerifySessionContext,
  state: RunState,
  signal: AbortSignal,
): Promise<Verdict> {
  const { host } = context;
  try {
    const report = await verifySession(context, signal, {
      budget: remainingBudget(state),
      onProgress: ({ stage, text, done, total }) =>
        host.progress(stage === 'done' ? '' : `Verifying: ${text} (${done} of ${total})`),
    });
    return toVerdict(report);
  } catch (error) {
    signal.throwIfAborted();
    const why = `Not verified: ${error instanceof Error ? error.message : String(error)}`;
    return { type: 'abstained', why, text: why };
  }
}

/** Returns the verdict of a check: only a verified answer is handed on, with its citations and its struck claims; otherwise the reason is the answer. */
export function toVerdict(report: VerificationReport): Verdict {
  const { outcome, why, draft, answer, claims } = report;
  if (outcome !== 'verified') return { type: 'abstained', why, text: formatOutcome(report) };
  if (!isJson(draft)) return { type: 'passed', text: answer };
  if (claims.every(({ verdict }) => verdict.type === 'supported')) return { type: 'passed' };
  const struck = 'A part of the JSON answer is not supported, and JSON cannot be struck out.';
  return { type: 'abstained', why: struck, text: `I don’t know: ${struck}` };
}

function isJson(text: string): boolean {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What the limits of the run leave for its verification. */
function remainingBudget({ limits, spent }: RunState): VerifyBudget {
  const left = {
    tokens: limits?.tokens === undefined ? undefined : limits.tokens - spent.input - spent.output,
    usd: limits?.usd === undefined ? undefined : limits.usd - spent.usd,
    ms: limits?.ms === undefined ? undefined : limits.ms - spent.ms,
  };
  return Object.fromEntries(Object.entries(left).filter(([, value]) => value !== undefined));
}
