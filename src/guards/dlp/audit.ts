// Keeps audit facts of a session until the next answer of its model is recorded; they never hold a value.
import type { DlpAudit } from './types.ts';

/** The key of the annotations with audit facts. */
export const dlpAuditKey = 'dlp';

/** Audit facts that are not in the log yet, by session. */
export type DlpAuditBuffer = {
  add(session: string | undefined, fact: DlpAudit): void;
  /** Returns the facts of a session, and removes them. */
  take(session: string | undefined): readonly DlpAudit[];
};

const maxSessions = 1000;
const maxFacts = 100;

/** Creates a buffer. The oldest session is dropped if there are too many. */
export function createAuditBuffer(): DlpAuditBuffer {
  const facts = new Map<string, DlpAudit[]>();
  return {
    add(session = '', fact) {
      const list = facts.get(session) ?? [];
      if (list.length < maxFacts) list.push(fact);
      facts.set(session, list);
      const [oldest] = facts.keys();
      if (facts.size > maxSessions && oldest !== undefined) facts.delete(oldest);
    },
    take(session = '') {
      const list = facts.get(session) ?? [];
      facts.delete(session);
      return list;
    },
  };
}

/** The buffer of this process: gates add facts, and the provider of the session records them. */
export const processAudit: DlpAuditBuffer = createAuditBuffer();
