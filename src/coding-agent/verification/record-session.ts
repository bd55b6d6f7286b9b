// Records a verification that no session asked for as a session of its own: the question, the answer, the verdicts with their evidence, and what it cost.
import { randomUUID } from 'node:crypto';
import { defaultLimits } from '../../agent/index.ts';
import type { VerificationReport } from '../../checks/index.ts';
import { FairleadError, type Fact, type MessagePart, type ResolvedAgent } from '../../core/index.ts';
import { closeSession, openSession } from '../../sessions/index.ts';
import { markPrivate, withPrivacyViews } from '../private-sessions.ts';
import type { Settings } from '../settings/index.ts';
import { recordVerification, toVerdict } from './verify-session.ts';

/** What is recorded. */
export type RecordedVerification = {
  readonly settings: Pick<Settings, 'dirs' | 'private'>;
  readonly report: VerificationReport;
  /** The file that the answer is from, if it is given: then no model answered. */
  readonly answerFile?: string;
  /** Whether the answer was given. */
  readonly isGiven: boolean;
  readonly cwd: string;
  readonly isPrivate?: boolean;
};

/** Records a verification in a new session; returns the name of the session. */
export async function recordVerificationSession(recorded: RecordedVerification): Promise<string> {
  const { settings, report, isPrivate = false } = recorded;
  const opened = await openSession(settings.dirs, { type: 'new' }, createRecordingAgent(recorded));
  const { session, sessionFile } = opened;
  try {
    await markPrivate(session, isPrivate ? '--private' : settings.private ? 'the setting "private"' : undefined);
    await session.record(() => createAnswerFacts(recorded));
    await recordVerification(session, report);
    if (!recorded.isGiven) await session.record(() => createEndFacts(report));
  } finally {
    await closeSession(opened);
  }
  return sessionFile?.name ?? '';
}

/** An agent that only names the author: nothing is run with it. */
function createRecordingAgent({ report, cwd }: RecordedVerification): ResolvedAgent {
  const agent: ResolvedAgent = {
    system: '',
    cwd,
    provider: {
      model: report.author ?? 'none',
      family: 'none',
      stream() {
        throw new FairleadError('verify/recorded', 'The session of a verification does not run.', { blame: 'harness' });
      },
    },
    tools: new Map(),
    rules: [],
    reminders: [],
    gates: [],
    stops: [],
    checks: [],
    settings: {},
  };
  return withPrivacyViews(agent, undefined);
}

const textPart = (text: string): MessagePart => ({ type: 'text', text });

/** The question and the answer of the author. A given answer is a part of the input. */
function createAnswerFacts({ report, answerFile, isGiven }: RecordedVerification): readonly Fact[] {
  const { question, draft, author, spent } = report;
  const input = randomUUID().slice(0, 8);
  const received = (parts: readonly MessagePart[]): Fact => ({ type: 'input-received', input, how: 'prompt', parts });
  if (isGiven) {
    const title = `Verify the claims of ${answerFile ?? 'this text'}.`;
    return [received([textPart([title, ...(question === undefined ? [] : [question])].join('\n')), textPart(draft)])];
  }
  return [
    received([textPart(question ?? '')]),
    { type: 'run-started', run: randomUUID(), limits: defaultLimits },
    { type: 'turn-started', turn: 1, inputs: [input], notes: [] },
    {
      type: 'turn-ended',
      turn: 1,
      message: { role: 'assistant', parts: [textPart(draft)] },
      finishReason: 'stop',
      // The annotation of the verification has the cost of every request.
      usage: { input: 0, output: 0 },
      usd: 0,
      model: author ?? 'none',
      ms: spent.ms,
    },
  ];
}

function createEndFacts(report: VerificationReport): readonly Fact[] {
  const verdict = toVerdict(report);
  return [
    { type: 'check-ended', check: 'verify', verdict },
    verdict.type === 'passed'
      ? { type: 'run-ended', reason: 'answered' }
      : { type: 'run-ended', reason: 'abstained', detail: report.why },
  ];
}
