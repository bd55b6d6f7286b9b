// The gate of data loss prevention: asks about, denies or changes calls of tools with an external effect whose input holds personal data or secrets.
import {
  askedEachTimeText,
  isObject,
  unwrapDeferredCall,
  USE_TOOL,
  type Gate,
  type Json,
  type RunState,
  type Tool,
} from '../../core/index.ts';
import { processAudit, type DlpAuditBuffer } from './audit.ts';
import type { DlpPolicy } from './policy.ts';
import { mapStrings } from './scan-request.ts';
import { countFindings, formatCounts } from './scanner.ts';
import type { DlpFinding } from './types.ts';

const maxCounted = 100;

/** Options of createDlpGate. */
export type DlpGateOptions = {
  readonly policy: DlpPolicy;
  readonly tools: ReadonlyMap<string, Pick<Tool, 'effect'>>;
  /** Whether a user can answer a question; otherwise what would be asked is denied. */
  readonly canAsk: () => boolean;
  readonly audit?: DlpAuditBuffer;
  /** Whether a call can carry its input out; by default every external call can. */
  readonly isWayOut?: (tool: string, input: Json) => boolean;
  /** Whether the user wrote a value in this session: what the user named for a call is counted, and not asked about. */
  readonly isFromUser?: (value: string, state: RunState) => boolean;
};

/** Creates the gate. A detector that fails denies the call, unless the policy only observes. */
export function createDlpGate(options: DlpGateOptions): Gate {
  const { policy, tools, canAsk, audit = processAudit, isWayOut, isFromUser } = options;
  const { scanner, actionFor, isEnforced, isOff } = policy;
  // A call is evaluated again after an approval; it is counted once.
  const counted: string[] = [];
  return (given, state) => {
    const { session } = state;
    if (isOff('tools')) return { type: 'allow' };
    const unwrapped = unwrapDeferredCall({ tool: given.tool, input: given.input });
    const { tool, input } = typeof unwrapped === 'string' ? given : unwrapped;
    const effect = tools.get(tool)?.effect;
    if (effect === 'read' || effect === 'write' || isWayOut?.(tool, input) === false) return { type: 'allow' };
    const by = { kind: 'dlp', name: 'tools' } as const;
    let findings: readonly GateFinding[];
    try {
      findings = findInInput(input, (text) =>
        scanner
          .find(text)
          .map((finding) =>
            isTypable(finding) && isFromUser?.(text.slice(finding.from, finding.to), state) === true
              ? { ...finding, isFromUser: true }
              : finding,
          ),
      );
    } catch (error) {
      if (isEnforced('tools')) throw error;
      audit.add(session, { way: 'tools', action: 'observe', counts: {}, to: tool, failed: true });
      return { type: 'allow' };
    }
    const counts = countFindings(findings);
    const actions = new Set(
      findings.map(({ kind, isFromUser: isTyped }) => {
        const action = actionFor('tools', kind);
        return isTyped && action === 'ask' ? 'observe' : action;
      }),
    );
    const what = formatCounts(counts);
    if (actions.has('block') || (actions.has('ask') && !canAsk()))
      return { type: 'deny', reason: `${tool} was not run: its input holds ${what}, which may not leave.`, by };
    if (actions.has('redact')) {
      audit.add(session, { way: 'tools', action: 'redact', counts, to: tool });
      const changed = mapStrings(input, (text) =>
        scanner.redact(text, (value, { kind }) =>
          actionFor('tools', kind) === 'redact' ? `[removed: ${kind}]` : value,
        ),
      );
      return { type: 'rewrite', input: given.tool === USE_TOOL ? replaceInput(given.input, changed) : changed };
    }
    if (actions.has('ask'))
      return {
        type: 'ask',
        question: `Run ${tool}? Its input holds ${what}, which leaves this machine.\n${askedEachTimeText}`,
        by,
      };
    const key = `${session} ${given.id}`;
    if (findings.length === 0 || counted.includes(key)) return { type: 'allow' };
    if (counted.push(key) > maxCounted) counted.shift();
    audit.add(session, { way: 'tools', action: 'observe', counts, to: tool });
    return { type: 'allow' };
  };
}

/** A value that was marked private needs an approval, also if the user wrote it. */
const isTypable = ({ category }: DlpFinding): boolean => category === 'personal' || category === 'secret';

type GateFinding = DlpFinding & { readonly isFromUser?: boolean };

function findInInput(input: Json, find: (text: string) => readonly GateFinding[]): readonly GateFinding[] {
  const findings: GateFinding[] = [];
  mapStrings(input, (text) => {
    findings.push(...find(text));
    return text;
  });
  return findings;
}

/** The input of a call of a hidden tool, with another input of the tool itself. */
const replaceInput = (outer: Json, input: Json): Json => (isObject(outer) ? { ...outer, input } : input);
