// The gate of the flow policy: asks or denies if text of third parties decides where an effect goes, or if the user did not request it.
import {
  askedEachTimeText,
  escapeInvisible,
  truncateMiddle,
  unwrapDeferredCall,
  type Gate,
  type RunState,
} from '../../core/index.ts';
import { decideCall } from './decide-call.ts';
import type { FlowLog } from './flow-log.ts';
import type { FlowFold } from './fold-log.ts';
import type { FlowState } from './flow-state.ts';
import type { SuspiciousText } from './suspicious-texts.ts';
import type { FlowCall, FlowDecision, FlowDeclarations, FlowRule, LabelledValue } from './types.ts';

/** `ask` asks the user, `deny` denies what would be asked, `observe` allows everything: a report shows what would have been asked. */
export type FlowMode = 'ask' | 'deny' | 'observe';

/** Creates the gate of a session whose log a fold reads. */
export function createFlowGate(
  readLog: (state: RunState) => FlowLog,
  {
    fold,
    declarations,
    mode,
  }: { readonly fold: FlowFold; readonly declarations: FlowDeclarations; readonly mode: () => FlowMode },
): Gate {
  const findSuspicious = createLazyDetector();
  return async (given, runState) => {
    if (mode() === 'observe') return { type: 'allow' };
    const unwrapped = unwrapDeferredCall({ tool: given.tool, input: given.input });
    const call: FlowCall = { id: given.id, ...(typeof unwrapped === 'string' ? given : unwrapped) };
    const { state } = fold.read(readLog(runState));
    const decision = decideCall(state, declarations, call);
    if (decision.type === 'allow') return { type: 'allow' };
    const by = { kind: 'flow', name: decision.rule } as const;
    if (decision.type === 'deny' || mode() === 'deny')
      return { type: 'deny', reason: formatDenial(call, decision), by };
    const suspicious = await findSuspicious(state, decision.bad);
    return { type: 'ask', question: formatFlowQuestion(call, decision, state.userTexts.at(-1), suspicious), by };
  };
}

/** Loads the detector for the first question. Without it a question is the same, except for its line about suspicious texts. */
function createLazyDetector(): (
  state: FlowState,
  values: readonly LabelledValue[],
) => Promise<readonly SuspiciousText[]> {
  const load = async () => {
    const [{ createDetector }, { findSuspiciousTexts }] = await Promise.all([
      import('../detector/index.ts'),
      import('./suspicious-texts.ts'),
    ]);
    const detector = createDetector();
    return (state: FlowState, values: readonly LabelledValue[]) => findSuspiciousTexts(state, values, detector);
  };
  let loaded: ReturnType<typeof load> | undefined;
  return async (state, values) => {
    if (!state.hasUntrusted) return [];
    loaded ??= load();
    return loaded.then((find) => find(state, values)).catch(() => []);
  };
}

type Objection = FlowDecision & { readonly type: 'ask' | 'deny' };

const reasons: Readonly<Record<FlowRule, string>> = {
  'undeclared-tool': 'What this tool does is not declared, so every value of the call must come from you.',
  'undeclared-parameter': 'What these parameters do is not declared, so their values must come from you.',
  'confirms-refused': 'It completes an effect that you refused.',
  'refused-before': 'You refused this call before.',
  'untrusted-value': 'A text of a third party decides what this call acts on.',
  'untrusted-value-not-requested': 'You did not ask for this, and a text of a third party decides what it acts on.',
  'not-requested': 'You did not ask for this.',
};

const maxShown = 6;
const maxValueChars = 300;
const maxUserChars = 300;

/** The question about a call: what it does, which values come from where, and what the user wrote. */
export function formatFlowQuestion(
  call: FlowCall,
  { rule, bad }: Objection,
  userText: string | undefined,
  suspicious: readonly SuspiciousText[] = [],
): string {
  const more = bad.length > maxShown ? [`  and ${bad.length - maxShown} more values`] : [];
  return [
    `Run ${call.tool}? ${reasons[rule]}`,
    ...bad.slice(0, maxShown).flatMap(formatValue),
    ...more,
    ...suspicious.slice(0, maxShown).map(formatSuspicious),
    `  The whole call: ${show(JSON.stringify(call.input), 600)}`,
    ...(userText === undefined ? [] : [`  You wrote: ${quote(userText, maxUserChars)}`]),
    askedEachTimeText,
  ].join('\n');
}

function formatValue({ parameter, value, label, source, context }: LabelledValue): readonly string[] {
  const origin =
    source === undefined
      ? label === 'unknown'
        ? 'found in no text of yours'
        : 'not from you'
      : `from ${source.tool}${source.field === undefined ? '' : `, field ${show(source.field, 80)}`}${source.call === '' ? '' : `, call ${source.call}`}`;
  return [
    `  ${parameter}: ${quote(value, maxValueChars)} (${origin})`,
    ...(context === undefined ? [] : [`    ${quote(context, maxValueChars)}`]),
  ];
}

const formatSuspicious = ({ source, score }: SuspiciousText): string =>
  `  suspicious: the text from ${show(source.tool, 80)}${source.call === '' ? '' : `, call ${source.call}`} looks like an instruction (detector, score ${score.toFixed(1)})`;

/** What the model reads. It names no values: text of third parties must not be repeated as a reason. */
const formatDenial = ({ tool }: FlowCall, { rule, bad }: Objection): string =>
  [
    `${tool} was not run. ${reasons[rule]}`,
    ...(bad.length > 0 ? [`Parameters: ${[...new Set(bad.map(({ parameter }) => parameter))].join(', ')}.`] : []),
    'Do what the user asked for without this call, or tell the user what is missing.',
  ].join(' ');

const show = (text: string, max: number): string =>
  escapeInvisible(truncateMiddle(text.replaceAll(/\s+/g, ' ').trim(), max));
const quote = (text: string, max: number): string => `"${show(text, max)}"`;
