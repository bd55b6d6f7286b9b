// Compares numbers that a statement reports from a command with the numbers that its output has beside the same words.
import { minOf } from '../../core/index.ts';
import { findAll } from '../find-all.ts';
import type { ClaimVerdict } from '../types.ts';
import type { Mention } from './command-mentions.ts';
import { findNumbers, readNumbers, stemOf, valuesOf, type Figure } from './read-numbers.ts';
import { isCut } from './check-outcomes.ts';
import type { Statement } from './split-statements.ts';
import { hasOtherMeaning, withoutDenied } from './outcome-words.ts';
import type { RanCommand, SessionActions } from './session-actions.ts';
import { decide, eventEvidence, findUnknown, shorten } from './verdicts.ts';
import { mayHave } from './word-groups.ts';

/** Words by which a statement gives what a command printed. */
export const reportWords: RegExp =
  /(?<![\p{L}])(?:report(?:s|ed)?|show(?:s|ed|n)?|print(?:s|ed)?|found|finds|lists?|listed|return(?:s|ed)?|output|gave|gives|counted|counts|says?|result(?:s|ed)?|respond(?:s|ed)?|answered|answers|measured|meldet|meldete|zeigt|zeigte|ausgabe|ergab|liefert\p{L}*|fand|gefunden|findet|antwortet\p{L}*|affiche\p{L}*|indique|indiqué|renvoie|renvoyé|trouve|trouvé|signale|montre|muestra|mostró|devuelve|devolvió|encontró|encuentra|indica|reporta|imprime|imprimió|informa)(?![\p{L}])/iu;

/** Whether a statement gives what a command printed. */
export const saysReport = ({ text, groups }: Pick<Statement, 'text' | 'groups'>): boolean =>
  mayHave(groups, 'report') && reportWords.test(text);

/** Words before a number that make it something else than a reported one. */
const otherNumber =
  /(?:add(?:ed|ing|s)?|new|wrote|writing|creat\p{L}*|remov\p{L}*|delet\p{L}*|chang\p{L}*|edit\p{L}*|updat\p{L}*|rais\p{L}*|increas\p{L}*|reduc\p{L}*|from|than|line|lines|port|version|node|step|phase|issue|pr|top|first|last|about|around|roughly|nearly|almost|approximately|some|over|under|up to|at least|at most|per|every|previously|instead of|down to|etwa|rund|circa|ca|environ|presque|unos|unas|casi|hinzugefügt|neue|nouveaux|nuevos|nuevas|zeile|línea|ligne|exit code|code|status|after|sleep|timeout|set to|\d of|\d out of|\d von|\d sur)\.?\s*["'(]?\s*$|[~≈<>±$@#v]\s*$/iu;
/** Words after a number that make it something else. */
const otherUnit =
  /^\s*(?:x\b|×|k\b|times\b|-|–|\/|(?:out )?of (?:them|these|those|which|\d|the)|von \d|sur \d|runs?\b|attempts?\b|st\b|nd\b|rd\b|th\b|more\b|fewer\b|less\b|new\b|additional\b|higher\b|lower\b|lines?\b|files? (?:changed|touched|edited)|neue|nouv|nuev)/i;

/** A word for zero, and what there is none of. */
export const zeroWord: RegExp =
  /(?<![\p{L}\d])(?:no|none|zero|nothing(?: to)?|0|keine[rn]?|nichts|null|aucune?|zéro|rien à|ning[úu]na?|cero|nada (?:que|para))\s+(?:(?:tests?|resources?|ressources?|recursos|known|security)\s+)?(\p{L}{4,})/gu;

const maxNumbers = 200;
const maxStated = 12;

/** Decides the figures of a statement against the output of the command that it names. */
export function checkStatedFigures(
  statement: Statement,
  mentions: readonly Mention[],
  session: SessionActions,
): ClaimVerdict | undefined {
  const { lower, text } = statement;
  // In `240 tests` the class stands behind its number.
  const from = minOf(mentions.map(({ at, end, isExact }) => (isExact ? end : Math.max(0, at - 12))));
  const last = onlyRun(mentions);
  if (!last || last.isBackground || last.isByUser || last.code === undefined) return undefined;
  if (findUnknown(session) !== undefined) return undefined;
  if (hasOtherMeaning(statement, (text) => withoutDenied(text).replaceAll(zeroWord, ''))) return undefined;
  const output = session.evidence.resultText?.(last.call);
  if (output === undefined || output.trim() === '' || isCut(output)) return undefined;
  const start = text.slice(0, 600);
  const isReported = ({ at, end }: Pick<Figure, 'at' | 'end'>): boolean =>
    at >= from && !otherNumber.test(text.slice(Math.max(0, at - 30), at)) && !otherUnit.test(text.slice(end, end + 20));
  const zeros = mayHave(statement.groups, 'none') ? findAll(zeroWord, lower.slice(Math.max(0, from))) : [];
  // The words beside a number are read only if the output does not have the number.
  const isShown = ({ shown, ...place }: Pick<Figure, 'at' | 'end' | 'shown'>): boolean =>
    hasNumber(output, shown) || !isReported(place) || valuesOf(shown).every((value) => value <= 0);
  if (zeros.length === 0 && findNumbers(start, maxStated).every(isShown)) return undefined;
  const claimed = readNumbers(start, 3, maxStated, true).filter(
    (figure) => figure.values.some((value) => value > 0) && isReported(figure),
  );
  const numbers = readNumbers(output, 2, maxNumbers + 1);
  if (numbers.length === 0 || numbers.length > maxNumbers) return undefined;
  const proof = eventEvidence(session, last, last.command);
  const all = numbers.flatMap(({ values }) => values);
  for (const match of zeros) {
    const stem = stemOf(match[1] ?? '');
    const beside = numbers.filter(({ stems }) => stems.includes(stem));
    const [first] = beside;
    if (!first || isMitigated.test(output)) continue;
    const hasNoZero = !all.includes(0) && !readsZero.test(output);
    if (hasNoZero || (beside.length === 1 && !first.values.includes(0)))
      return decide(
        'contradicted',
        `The output of ${shorten(last.command)} has ${first.shown} for ${match[1]}, not 0 (event ${last.seq}).`,
        proof,
      );
  }
  if (claimed.length === 0) return undefined;
  const isNamed = mentions.some(({ isExact }) => isExact);
  if (!isNamed && !reportWords.test(lower) && !/^\S+ ?\S*:\s|\d\s+(?:unit )?tests?(?!\p{L})/iu.test(lower))
    return undefined;
  if (!isNamed && statement.lead.includes('#')) return undefined;
  for (const figure of claimed) {
    if (isDerived(figure, numbers) || isElsewhere(figure, last, session)) continue;
    const beside = numbers.filter(({ stems }) => stems.some((stem) => figure.stems.includes(stem)));
    const isOnly = /^\s*\d[\d.,]*\s*$/.test(output) && claimed.length === 1 && reportWords.test(lower);
    if (beside.length === 0 && !isOnly) continue;
    const shown = [...new Set((isOnly ? numbers : beside).map((each) => each.shown))].slice(0, 3).join(', ');
    return decide(
      'contradicted',
      `The output of ${shorten(last.command)} has ${shown}, not ${figure.shown} (event ${last.seq}).`,
      proof,
    );
  }
  return undefined;
}

/** Whether an output has a number as it is shown. */
function hasNumber(output: string, shown: string): boolean {
  const at = output.indexOf(shown);
  return at >= 0 && !/[\d.,]/.test(output[at - 1] ?? ' ') && !/[\d.,]/.test(output[at + shown.length] ?? ' ');
}

/** Output of a program that repaired or left out what it counted. */
const isMitigated = /\bfixed\b|remaining|suppress|ignored|baseline|pre-?existing|allowed/i;
const readsZero = /(?<![\d.,])0(?![\d.,])/;

/** The last run, if every mention is of the same command. */
function onlyRun(mentions: readonly Mention[]): RanCommand | undefined {
  const found = new Set(mentions.map(({ runs }) => runs.at(-1)));
  const [run] = found;
  return found.size === 1 ? run : undefined;
}

/** Factors between units, and of a share in percent. */
const factors = [100, 1000, 0.001, 1024, 1 / 1024, 1e6, 1e-6, 60, 1 / 60, 0.01];

/** Whether a number is one of an output, a rounding, a sum or a difference of two of them, or a share. */
function isDerived({ values, decimals }: Figure, numbers: readonly Figure[]): boolean {
  const tolerance = 0.5 * 10 ** -decimals + 1e-9;
  const lists = numbers.map((each) => each.values);
  const known = [...new Set(lists.flat())];
  const fits = (candidate: number): boolean =>
    values.some((value) => Math.abs(candidate - value) <= (Number.isInteger(candidate) ? 1e-9 : tolerance));
  if (known.some((each) => fits(each) || fits(Math.floor(each)) || fits(Math.round(each)))) return true;
  if (
    known.some((each) =>
      factors.some((factor) =>
        values.some((value) => Math.abs(each * factor - value) <= Math.max(tolerance, value * 0.01)),
      ),
    )
  )
    return true;
  if (known.length > 60) return true;
  for (const [i, a] of known.entries())
    for (const b of known.slice(i + 1)) {
      if (a === 0 || b === 0) continue;
      if (fits(a + b) || fits(Math.abs(a - b)) || fits(Math.round((100 * a) / b)) || fits(Math.round((100 * b) / a)))
        return true;
      if (fits((100 * a) / b) || fits((100 * b) / a)) return true;
    }
  return fits(known.reduce((sum, each) => sum + each, 0));
}

const maxOutputs = 30;

/** Whether another output, a written text or the user has the number, or an output cannot be read. */
function isElsewhere({ shown, values }: Figure, last: RanCommand, { commands, evidence }: SessionActions): boolean {
  if (evidence.isFromUser?.(shown)) return true;
  const others = commands.filter((each) => each !== last && !each.wasDenied);
  if (others.length > maxOutputs) return true;
  return others.some(({ call }) => {
    const output = evidence.resultText?.(call);
    if (output === undefined || isCut(output)) return true;
    return readNumbers(output, 0, 2000).some((each) => each.values.some((value) => values.includes(value)));
  });
}
