// Reads the paths of a report of changes: lists and tables of files, several files of one verb, and files in brackets.
import { findAll } from '../find-all.ts';
import { isPathLike } from './claim-paths.ts';
import { pastVerb } from './lexicon.ts';
import type { Code, Statement } from './split-statements.ts';
import { hasOtherMeaning } from './outcome-words.ts';
import type { Action } from './types.ts';
import { mayHave } from './word-groups.ts';

type FileAction = Action & { readonly type: 'file' };

/** Headings of a report of changes. */
const changeHeading =
  /^(?:\W*)(?:(?:here(?:['’]s| is| are)?|this is|summary of|overview of|list of|the|my|what|all|files?|code|key|main)\s+)*(?:what (?:i|we|was|has been|has)?\s*(?:changed|did|done)|chang(?:es|ed)(?: (?:files?|made|so far))?|files (?:changed|edited|touched|updated|modified)|modifications?|done|edits?|updated|implemented|completed|erledigt|änderungen|geändert(?:e dateien)?|umgesetzt|was (?:ich )?geändert (?:habe|wurde)|fait|terminé|modifications? (?:effectuées|apportées)|changements|fichiers modifiés|hecho|listo|cambios(?: realizados)?|archivos modificados)(?:\s+(?:made|in this (?:session|run|change)|so far))?\s*:?\W*$/iu;
/** A table of changes: a column for files, and one for what changed. */
const isChangeTable = (header: string): boolean =>
  /\|\s*(?:files?|paths?|dateie?n?|pfad|fichiers?|archivos?|ficheros?|modules?)\s*\|/u.test(header) &&
  /\|\s*(?:(?:what )?chang(?:es?|ed)|what (?:i|was) (?:did|changed|done)|edits?|modifications?|änderung(?:en)?|changements?|cambios?|action)\s*\|/u.test(
    header,
  );

/** Words of an item that make it no change. */
const noChange =
  /(?<![\p{L}])(?:unchanged|untouched|no changes?|not|nothing|none|n\/a|as is|read|reviewed|checked|inspected|see|reference|only used|already|kept|left|to do|todo|pending|later|open|next|unverändert|keine|nichts|offen|gelesen|geprüft|inchangé|aucun\p{L}*|lu|sin cambios|ningún|leído|revisado|generated|by (?:the|your|you)|was the|source of|based on|proposed|suggest\p{L}*|recommend\p{L}*|would|should|could|will|may|optional)(?![\p{L}])|[-–—]\s*\|?$/u;

/** Past forms of changes in other languages. */
export const foreignChange: RegExp =
  /^(?:geändert|angepasst|ergänzt|erstellt|angelegt|gelöscht|entfernt|hinzugefügt|aktualisiert|verschoben|korrigiert|behoben|eingebaut|erweitert|überarbeitet|umgestellt|modifiée?s?|ajoutée?s?|créée?s?|supprimée?s?|corrigée?s?|mise?s? à jour|déplacée?s?|remplacée?s?|adaptée?s?|cread[ao]s?|creé|añadí|añadid[ao]s?|agregué|modificad[ao]s?|modifiqué|actualizad[ao]s?|actualicé|corregid[ao]s?|corregí|eliminad[ao]s?|eliminé|borrad[ao]s?|borré|cambiad[ao]s?|cambié|movid[ao]s?|edité|editad[ao]s?)$/u;
const foreignDelete = /^(?:gelöscht|entfernt|supprim|eliminad|eliminé|borr)/u;

const changeKinds = new Set(['create', 'edit', 'delete', 'move']);

/** Whether a word reports a change, and whether it says that something was deleted. */
function readChange(word: string): 'edit' | 'delete' | undefined {
  if (foreignChange.test(word)) return foreignDelete.test(word) ? 'delete' : 'edit';
  const verb = pastVerb(word);
  if (!verb || verb.isAmbiguous || !changeKinds.has(verb.kind)) return undefined;
  return verb.kind === 'delete' ? 'delete' : 'edit';
}

const isFile = ({ text }: Code): boolean => isPathLike(text, true) && !text.endsWith('/') && !text.includes('*');

/** Reads the files that a statement reports as changed. */
export function readChangedPaths(statement: Statement, isChanged: (path: string) => boolean): readonly FileAction[] {
  if (statement.isRow) return readRow(statement);
  const listed = readListItem(statement);
  if (listed.length > 0) return listed;
  return readChain(statement, isChanged);
}

const edit = (path: string): FileAction => ({ type: 'file', change: 'edit', path });

function readRow({ text, heading, code, lower }: Statement): readonly FileAction[] {
  if (!isChangeTable(heading) || /plan|propos|suggest|todo/i.test(heading)) return [];
  const cell = /^\s*\|([^|]*)\|/.exec(text);
  const rest = text.slice(cell?.[0].length ?? 0);
  if (!cell || noChange.test(lower) || !/\p{L}/u.test(rest)) return [];
  const inFirst = code.filter(({ end }) => end <= cell[0].length && true);
  if (inFirst.length > 0) return inFirst.filter(isFile).map(({ text: path }) => edit(path));
  const name = (cell[1] ?? '').trim();
  return isPathLike(name, true) && !name.endsWith('/') ? [edit(name)] : [];
}

/** `Changes:` and below it `a.ts: …`, `b.ts – …`. */
function readListItem(statement: Statement): readonly FileAction[] {
  const { heading, isItem, code, text, lower } = statement;
  if (!isItem || heading === '' || !changeHeading.test(heading) || noChange.test(lower) || hasOtherMeaning(statement))
    return [];
  const [first] = code;
  if (
    first &&
    first.at <= 1 &&
    isFile(first) &&
    /^\)?\s*(?:[:–—-]|→|=>|$|\(|,|\uE000|and\b|und\b|et\b|y\b)/.test(text.slice(first.end))
  )
    return [edit(first.text)];
  const word = /^[\w./@-]+(?=\s*(?::|–|—|\s-\s|$))/.exec(text)?.[0];
  return word !== undefined && isPathLike(word, false) ? [edit(word)] : [];
}

/** Words that may stand between two files of one verb. */
const coordination =
  /^[\s,()*]*(?:(?:and|und|et|y|e|ainsi que|así como|as well as|sowie|plus)[\s,()]*(?:(?:also|too|auch|aussi|également|también|both|the|file|for|in|to|on|den|die|das|le|la|el|los|dans|en)[\s,()]*){0,4})?$/iu;
const forPlatform = /^\s+(?:for|für|pour|para)\s+(?:the\s+)?[\p{L}\d-]+(?:\s+\p{L}+)?(?=[\s,])/iu;

/** The gap between two codes as text, without a short purpose such as `for iOS`. */
const isCoordinated = (gap: string): boolean => coordination.test(gap.replace(forPlatform, ''));

const chainLead =
  /(?<![\p{L}])(?:i|we|i['’]ve|we['’]ve|ich|wir|j['’]ai|nous|he|hemos|have been|has been|were|was|wurden?|ont été|a été|han sido|ha sido|fueron|fue|are|is|sind|ist|sont|est|están|está|done|listo|erledigt|fait)(?![\p{L}])/u;

/** The beginning of an own report: `Added a check in a.ts`. */
const ownChange = /^(?:[\p{L}-]+ed|i|i['’]ve|we)\s/u;
const placeBefore = / (?:in|to|into) $/;

/** All files of one verb, where the log has a change of at least one of them or the statement is in the first person. */
function readChain(statement: Statement, isChanged: (path: string) => boolean): readonly FileAction[] {
  const { text, lower, groups, code } = statement;
  if (code.length === 0 || !mayHave(groups, 'change')) return [];
  const files = code.filter(isFile);
  if (files.length === 0 || hasOtherMeaning(statement) || noChange.test(lower)) return [];
  const isOwn = ownChange.test(lower);
  // A single file can only be the place of a change.
  if (files.length === 1 && !(isOwn && files.some(({ at }) => placeBefore.test(lower.slice(Math.max(0, at - 6), at)))))
    return [];
  const verbs = [...findAll(/[\p{L}-]{3,}/gu, lower)]
    .map((match) => ({ at: match.index, kind: readChange(match[0]) }))
    .filter((each) => each.kind !== undefined);
  if (verbs.length === 0) return [];
  const isBare = readChange(/^[\p{L}-]+/u.exec(lower)?.[0] ?? '') !== undefined;
  if (!isBare && !chainLead.test(lower) && !/^[\p{L}-]+é(?![\p{L}])/u.test(lower)) return [];
  const found: FileAction[] = [];
  let chain: Code[] = [];
  const close = (): void => {
    const [first] = chain;
    const last = chain.at(-1);
    if (first && last && chain.length > 1 && chain.some(({ text: path }) => isChanged(path))) {
      const kind =
        verbs.findLast(({ at }) => at < first.at && !relative.test(text.slice(at, first.at)))?.kind ??
        verbs.find(
          ({ at }) =>
            at > last.end &&
            /^[^\p{L}]*(?:for \p{L}+ )?(?:are|were|have been|is|was|sind|wurden|sont|ont été|han sido|fueron|están)\b/iu.test(
              text.slice(last.end),
            ),
        )?.kind;
      if (kind !== undefined) for (const { text: path } of chain) found.push({ type: 'file', change: kind, path });
    }
    chain = [];
  };
  for (const file of files) {
    const previous = chain.at(-1);
    if (previous && !isCoordinated(text.slice(previous.end, file.at))) close();
    chain.push(file);
  }
  close();
  if (found.length === 0 && isOwn)
    for (const { at, text: path } of files) {
      const verb = verbs.findLast((each) => each.at < at);
      const gap = verb === undefined ? '' : lower.slice(verb.at, at);
      if (
        verb?.kind === 'edit' &&
        /^(?:added|created|wrote|updated|changed) (?:[\p{L}-]+ ){1,7}(?:in|to|into) $/u.test(gap) &&
        !relative.test(gap)
      )
        if (!isChanged(path) && isChanged('*')) found.push(edit(path));
    }
  return found;
}

/** Words that begin another statement between a verb and a file. */
const relative =
  /(?<![\p{L}])(?:that|which|who|where|because|since|like|from|as in|unlike|than|via|using|by|per|matching|mirrors?|used|imported|calls?|references?|usages?|imports?|links|called|referenced|read|reads|between|shared|common|die|der|das|welche|aus|von|qui|que|dont|depuis|desde|como|with|mit|avec|con)(?![\p{L}])/iu;
