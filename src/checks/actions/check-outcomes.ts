// Compares a good outcome that a statement gives to a command with how the last run of that command ended.
import { findAll } from '../find-all.ts';
import type { ClaimVerdict } from '../types.ts';
import { findMissingTool, saysRun, type Mention } from './command-mentions.ts';
import type { Statement } from './split-statements.ts';
import {
  denied,
  deniedStems,
  hasOtherMeaning,
  negative,
  positive,
  saysFinalState,
  withoutDenied,
} from './outcome-words.ts';
import { findChangeAfter, readTestSummary, type RanCommand, type SessionActions } from './session-actions.ts';
import { decide, eventEvidence, findUnknown, shorten, summaryEvidence } from './verdicts.ts';
import { mayHave } from './word-groups.ts';

/** Another subject between a command and an outcome: `eslint, and the page loads without errors`. */
const otherSubject =
  /(?:\band|\bso|,|\bund|\bet|\by|:)\s+(?:now\s+)?(?:the|our|this|that|der|die|das|le|la|les|el|los|las|l['’])\s*(?!build|debug|release|rollout|run|tests?|suite|image|lint|type|compil|output|result|command|deploy|image|pruebas|imagen|testlauf)\p{L}+/u;
const maxDistance = 120;

/** Whether two places belong together: near, and without another subject between them. */
const belongs = (text: string, from: number, to: number): boolean =>
  to - from <= maxDistance && !otherSubject.test(text.slice(Math.max(0, from), to));

/** Whether an outcome is what a statement says of a class, as in `the debug build completed`: a few words between them, and no object behind it. */
const isPredicate = (lower: string, { at, end }: Mention, place: number, word: string): boolean =>
  place < 0
    ? at <= 4 && lower.length < 60
    : place >= end &&
      place - end <= 50 &&
      !/[,;.]|(?<!\p{L})(?:to|for|in|on|that|which|specific|rather|the|a|an|of|into|pour|para|für|zum|zur)(?!\p{L})/u.test(
        lower.slice(end, place),
      ) &&
      /^\s*(?:$|[.,;:!)(|–—✅✓-]|(?:and|but|in|on|with|without|after|again|now|too|as|successfully|cleanly|correctly|und|et|y|sans|sin|ohne|durch|correctamente)(?!\p{L}))/u.test(
        lower.slice(place + word.length),
      );

/** Decides the outcome of each command that a statement names; undefined if nothing contradicts it. */
export function checkOutcome(
  statement: Statement,
  mentions: readonly Mention[],
  session: SessionActions,
  admits: () => boolean,
): ClaimVerdict | undefined {
  const { lower, lead, groups } = statement;
  // Without a mention only a session that ran no command is decided, by a program that it names.
  if (mentions.length === 0 && session.started.length > 0) return undefined;
  const isMarked = lead !== '' && /[✅✓✔☑]/u.test(lead);
  const isFinal = mayHave(groups, 'final') && saysFinalState(lower);
  const outcomes = [
    ...(mayHave(groups, 'none') && deniedStems.test(lower) ? findAll(denied, lower) : []),
    ...(mayHave(groups, 'good') ? findAll(positive, lower) : []),
  ].map(({ index, 0: word }) => ({ at: index, word }));
  if (isMarked) outcomes.push({ at: -1, word: '✅' });
  if (outcomes.length === 0 && !isFinal) return undefined;
  if (hasOtherMeaning(statement, withoutDenied) || negative.test(withoutDenied(lower))) return undefined;
  const reason = findUnknown(session);
  if (reason !== undefined) return undefined;
  for (const mention of mentions) {
    const near = outcomes.filter(({ at, word }) =>
      mention.isExact
        ? (at >= mention.end && belongs(lower, mention.end, at)) || (at < mention.at && belongs(lower, at, mention.at))
        : isPredicate(lower, mention, at, word),
    );
    if (near.length === 0 && !isFinal) continue;
    const verdict = checkMention(mention, near.map(({ word }) => word).join(' '), near.length > 0, isFinal, session);
    if (verdict) return admits() ? undefined : verdict;
  }
  if (mentions.length === 0 && outcomes.length > 0 && (isOwnRun.test(lower) || isMarked)) {
    const tool = findMissingTool(statement, session);
    if (tool !== undefined) return decide('contradicted', `The log has no run of ${tool}.`, summaryEvidence(session));
  }
  return undefined;
}

const isOwnRun =
  /(?<![\p{L}])(?:i|we|i['’]ve|we['’]ve|ich habe|j['’]ai|nous avons|he|hemos|compil[ée]|ejecut[ée]|ran|re-?ran|lanc[ée])(?![\p{L}])/u;

function checkMention(
  { runs, name, task, isExact }: Mention,
  outcome: string,
  hasOutcome: boolean,
  isFinal: boolean,
  session: SessionActions,
): ClaimVerdict | undefined {
  const last = runs.at(-1);
  if (!last || last.isBackground || last.code === undefined || last.isByUser) return undefined;
  // A program that did several things is not one command.
  const key = keyOf(last.command);
  if (runs.some((run) => run.command !== last.command && run.code === 0 && keyOf(run.command) !== key))
    return undefined;
  const later = session.commands.some(
    (each) => !each.wasDenied && each.seq > last.seq && (each.mayDoAny || sharesTask(each, last)),
  );
  if (later) return undefined;
  const output = session.evidence.resultText?.(last.call) ?? '';
  const proof = eventEvidence(session, last, last.command);
  if (hasOutcome && last.code !== 0) {
    const failed = readTestSummary(output)?.failed ?? 0;
    if ((last.hidesExit || last.isMixed) && failed === 0 && !isSingle(last)) return undefined;
    if (isFinding.test(last.command)) return undefined;
    return decide(
      'contradicted',
      `${shorten(last.command)} ended with exit code ${last.code} (event ${last.seq}).`,
      proof,
    );
  }
  if (last.code !== 0) return undefined;
  const noun = [...findAll(denied, outcome)].map((match) => match[1] ?? '')[0];
  const count = noun === undefined || isCut(output) || repaired.test(output) ? undefined : countOf(output, noun);
  if (count !== undefined)
    return decide(
      'contradicted',
      `The output of ${shorten(last.command)} reports ${count} (event ${last.seq}).`,
      proof,
    );
  if (isFinal && (task === 'test' || last.tasks.length > 0 || saysRun({ text: name }) || isExact)) {
    const change = findChangeAfter(session, last.seq);
    const wroteLater = session.commands.some((each) => each.seq > last.seq && !each.wasDenied && each.isUnknown);
    if (change && !wroteLater && last.tasks.length > 0)
      return decide(
        'contradicted',
        `${shorten(last.command)} ran (event ${last.seq}) before ${shorten(change.path)} was changed (event ${change.seq}), and not again after that.`,
        proof,
      );
  }
  return undefined;
}

const sharesTask = (each: RanCommand, last: RanCommand): boolean =>
  each.tasks.some((task) => last.tasks.includes(task)) && each.code === 0;

/** Whether a command runs one program, whose exit code counts. */
const isSingle = ({ command }: RanCommand): boolean => !/[|;\n]|&&/.test(command);

/** Programs whose exit code says what they found, and not whether they succeeded. */
const isFinding =
  /^\s*(?:grep|rg|diff|cmp|test|\[|git\s+diff|git\s+grep|(?:npm|pnpm|yarn)\s+(?:outdated|audit)|which|command)\b/;

const keyOf = (command: string): string => command.trim().split(/\s+/).slice(0, 3).join(' ');

/** Output of a program that repaired what it found. */
const repaired =
  /\bfix(?:ed|able)?\b|remaining|suppress|ignored|baseline|pre-?existing|allowed|0 (?:errors?|warnings?|problems?)/i;

/** Whether an output was shortened. */
export const isCut = (text: string): boolean =>
  text.length > 20_000 || text.includes('characters left out') || text.includes('bytes; ');

const nounGroups: readonly (readonly [claim: RegExp, output: RegExp])[] = [
  [/^(?:warn|avertiss|aviso|advert)/i, /(?<![\w.,-])(\d{1,6})\s+(?:\w+\s+)?warnings?\b|\bwarnings?:\s*(\d{1,6})\b/gi],
  [/^(?:err|fehler)/i, /(?<![\w.,-])(\d{1,6})\s+errors?\b|\berrors?:\s*(\d{1,6})\b/gi],
  [
    /^(?:fail|fehlschl|échec|fallo|falha)/i,
    /(?<![\w.,-])(\d{1,6})\s+(?:tests?\s+)?fail(?:ed|ures?|ing)\b|\bfail(?:ed|ures?)[:=]\s*(\d{1,6})\b/gi,
  ],
  [/^(?:vuln)/i, /(?<![\w.,-])(\d{1,6})\s+(?:\w+\s+)?vulnerabilit/gi],
  [
    /^(?:problem|issue|finding|violation|complaint|befund|problèm)/i,
    /(?<![\w.,-])(\d{1,6})\s+(?:problems?|issues?|findings?|violations?|offenses?|errors?)\b/gi,
  ],
];

/** What an output counts of a denied thing, if every count is more than zero. */
function countOf(output: string, noun: string): string | undefined {
  const pattern = nounGroups.find(([claim]) => claim.test(noun))?.[1];
  if (!pattern) return undefined;
  const counts = [...findAll(pattern, output)].map((match) => ({
    text: match[0],
    count: Number(match[1] ?? match[2]),
  }));
  return counts.length > 0 && counts.every(({ count }) => count > 0) ? counts[0]?.text : undefined;
}

const dirty =
  /^(?:[ MADRCU?]{2}) \S|^\s*(?:modified|new file|deleted|renamed):|Changes not staged|Untracked files|Changes to be committed/m;
const saysClean =
  /(?<![\p{L}])(?:clean|nothing to commit|no (?:uncommitted |local |pending )?changes|sauber|keine änderungen|propre|rien à valider|limpi[oa]|sin cambios|nada que confirmar)(?![\p{L}])/u;

/** Decides `git status` is clean against its output. */
export function checkTree(
  statement: Statement,
  mentions: readonly Mention[],
  session: SessionActions,
): ClaimVerdict | undefined {
  const status = session.started.at(-1);
  if (!status || !/^\s*git\s+status\b[^|;&]*$/.test(status.command)) return undefined;
  if (!saysClean.test(statement.lower) || hasOtherMeaning(statement, (text) => text.replace(saysClean, '')))
    return undefined;
  if (!mentions.some(({ runs }) => runs.includes(status)) || findUnknown(session) !== undefined) return undefined;
  const output = session.evidence.resultText?.(status.call) ?? '';
  return dirty.test(output)
    ? decide(
        'contradicted',
        `The output of ${shorten(status.command)} lists changes (event ${status.seq}).`,
        eventEvidence(session, status, status.command),
      )
    : undefined;
}

/** Words for the good state of a service. */
export const goodStatus: RegExp =
  /(?<![\p{L}])(running|ready|healthy|active|online|completed|succeeded|bound|available|up)(?![\p{L}])/iu;
const badStatus =
  /CrashLoopBackOff|ImagePullBackOff|ErrImagePull|\bError\b|\bPending\b|\bFailed\b|\bEvicted\b|\bExited\b|\bunhealthy\b|\bTerminating\b|\bNotReady\b|\binactive\b|\bdead\b|\bOOMKilled\b|\bUnknown\b|\bstopped\b|\boffline\b/i;

/** Decides the state of a thing that a line of an output names: `api-0` is Running. */
export function checkStatus(statement: Statement, session: SessionActions): ClaimVerdict | undefined {
  const { code, text, groups } = statement;
  if (code.length === 0 || !mayHave(groups, 'status')) return undefined;
  const state = goodStatus.exec(text)?.[1]?.toLowerCase();
  if (state === undefined || hasOtherMeaning(statement) || badStatus.test(text)) return undefined;
  if (findUnknown(session) !== undefined) return undefined;
  for (const { text: name } of code) {
    if (!/^[\w.-]{3,60}$/.test(name)) continue;
    const last = session.commands.findLast(
      (each) => !each.wasDenied && hasLine(session.evidence.resultText?.(each.call) ?? '', name) !== undefined,
    );
    if (!last || !/\b(?:ps|pods?|get|status|list|ls|services?|containers?|nodes?|is-active)\b/.test(last.command))
      continue;
    if (session.commands.some((each) => each.seq > last.seq && !each.wasDenied && !readsOnly.test(each.command)))
      continue;
    const line = hasLine(session.evidence.resultText?.(last.call) ?? '', name) ?? '';
    if (badStatus.test(line) && !line.toLowerCase().includes(state))
      return decide(
        'contradicted',
        `The output of ${shorten(last.command)} says: ${shorten(line)} (event ${last.seq}).`,
        eventEvidence(session, last, last.command),
      );
  }
  return undefined;
}

const readsOnly = /^\s*(?:kubectl\s+(?:get|describe|logs)|docker\s+(?:ps|logs)|git\s+(?:status|log|diff)|cat|ls)\b/;

const hasLine = (output: string, name: string): string | undefined =>
  !output.includes(name) || isCut(output)
    ? undefined
    : output.split('\n').find((line) => line.split(/\s+/).includes(name));
