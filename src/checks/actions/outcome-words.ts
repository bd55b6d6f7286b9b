// The words of outcomes in several languages, and the words that make a statement no report on the final state of this session.
import { mayHave } from './word-groups.ts';

/** Denied failures: `no errors`, `ohne Fehler`, `sans erreur`, `sin fallos`. Group 1 is the noun. */
export const denied: RegExp =
  /(?<![\p{L}\d.,])(?:no|zero|0|without(?: a single)?|free of|none of the|ohne|keine[rn]?|null|sans(?: aucune?)?|(?:ne|n['’])\s?\p{L}{2,12} (?:plus )?aucune?|aucune?|zéro|sin(?: ning[úu]na?)?|ning[úu]na?|cero|senza|nessun[ao]?|sem|nenhuma?)\s+(?:(?:lint|linter|type|test|build|compile|compiler|known|security|remaining|more|further|any|weiteren?|autre)\s+){0,2}(errors?|warnings?|problems?|failures?|issues?|findings|complaints?|violations?|vulnerabilit(?:y|ies)|diagnostics|fehlern?|warnungen|problemen?|befunde|fehlschläge|erreurs?|avertissements?|échecs?|problèmes?|errores|fallos?|avisos|advertencias|problemas|errori|erros|falhas)(?![\p{L}])/gu;

/** Words that say that something ended well. */
export const positive: RegExp =
  /(?<![\p{L}\d-])(?:pass(?:es|ed|ing)?|(?:all )?green|clean(?:ly)?|success(?:ful|fully|es)?|succeed(?:s|ed)?|complet(?:es|ed)|finish(?:es|ed)|error-free|warning-free|ok|okay|fine|happy|goes through|went through|works|builds|compiles|passt|erfolgreich|bestanden|bestehen|fehlerfrei|fehlerlos|grün|sauber|durchgelaufen|durch|réussi(?:e|s|es|t|ssent)?|passe(?:nt)?|avec succès|au vert|correctamente|con éxito|exitos[ao]s?|pasan?|pasaron|superad[ao]s?|en verde|con successo|superati|com sucesso|passa[rn]am|passam|passano)(?![\p{L}-])|[✅✓✔☑]|🟢/gu;

/** Words that make a statement a condition, a plan, a wish, history, or a report on others. */
export const otherMeaning: RegExp =
  /(?<![\p{L}])(?:if|whether|when|whenever|unless|until|once|would|could|should|might|may|must|can|cannot|will|shall|to (?:make|ensure|see|check|get|keep|be|confirm|verify)|ensur\w+|make sure|so that|expect\w*|requir\w*|you|your|they|their|previous\w*|earlier|originally|before|initially|at first|the first|baseline|goals?|targets?|example|e\.g|claims?|ci|pipeline|workflow|because|hope\w*|believe|think|likely|probably|presumably|appears?|seems?|means?|even|always|usually|typically|never|not|nor|neither|why|how|please|needs? to|needed|wants?|let me|(?<!(?:terraform|the|le|el|der|tofu|its) )plan(?:s|ned|ning)?|to-?do:|next steps?|except|apart from|only|still|yesterday|upstream|main branch|used to|already|instead|was (?:failing|broken)|skip(?:ped|s)? the|partly|partially|some|most|almost|mostly|each time|every (?:push|commit|time)|wenn|falls|sobald|würden?|könnten?|sollten?|sollen?|muss|müssen|kann|können|wird|nicht|nie|vorher|zuvor|zuerst|anfangs|bitte|du|dein\w*|ihr\w*|quand|lorsque|pourr\w+|devr\w+|serai\w*|sera|seront|peut|peuvent|doit|doivent|pas|avant|d['’]abord|vous|votre|cuando|podr\w+|deber\w+|sería\w*|será\w*|puedes?|pueden|deben?|no|nunca|antes|primero|usted|quando|dovrebbe|não|si)(?![\p{L}])|n['’]t(?!\p{L})|['’](?:ll|d)(?!\p{L})|\?/u;

/** Words of failures; a statement that has one of them, besides denied ones, says no good outcome. */
export const negative: RegExp =
  /fail|error|broke|crash|timed? ?out|abort|reject|denied|unable|red(?![\p{L}])|warn|problem|issue|flaky|unfinished|incomplete|fehl|schlug|schlägt|abgebroch|kaputt|échou|échec|erreur|impossible|fall[óaoe]|fracas|errore|erro(?![\p{L}])|❌|✗|✘/u;

/** Words of an answer in other languages that admit a failure. */
export const admitsFailureInOtherLanguages: RegExp =
  /fehlgeschlagen|schlägt fehl|schlug fehl|schlagen fehl|nicht (?:möglich|lauffähig|grün)|konnte nicht|konnte ich nicht|échou|n['’]a pas pu|n['’]ai pas pu|ne passe(?:nt)? pas|en échec|fall[óaeo]n?(?![\p{L}])|ha fallado|no pude|no pasan?|no se pudo|❌|✗|✘/iu;

/** Words that say that a result is about the final state. */
export const finalState: RegExp =
  /(?<![\p{L}])(?:after (?:(?:the|this|my|that|these|those|all|every|making|both) )?(?:last |final |latest |most recent )?(?:fix(?:es)?|changes?|edits?|refactor\w*|rename|modifications?|update)|(?:final|finished|finalized|end) (?:version|code|state|result)|on the (?:final|finished|current) \w+|re-?(?:ran|run|tested|checked)|once more|nach (?:der|dem|den|allen|meiner) (?:letzten )?(?:änderung(?:en)?|korrektur(?:en)?|fix|anpassung(?:en)?|umbau)|(?:fertigen?|endgültigen?|finalen?) (?:stand|version|code|fassung)|erneut|après (?:la|le|les|cette|ce|ma|mes) (?:dernière |dernier )?(?:correction|modifications?|changements?)|version finale|code final|à nouveau|après coup|despu[ée]s de(?:l| la| los| las| este| mi)? (?:[úu]ltimo |[úu]ltima )?(?:cambios?|correcci[óo]n|arreglo|modificaci[óo]n)|versi[óo]n final|c[óo]digo final|de nuevo|otra vez)(?![\p{L}])/u;

/** What every text with a final state has: its pattern takes milliseconds to compile, and most processes need it for no statement. */
export const finalStems: RegExp =
  /after |final|finished|end (?:version|code|state|result)|on the current|re-?(?:ran|run|tested|checked)|once more|nach |fertig|endgültig|erneut|après |à nouveau|despu|de nuevo|otra vez/;

/** Whether a text in lower case says that a result is about the final state. */
export const saysFinalState = (lower: string): boolean => finalStems.test(lower) && finalState.test(lower);

/** What every text with a denied failure has. */
export const deniedStems: RegExp =
  /err|warn|probl|fail|issue|finding|complaint|violation|vulnerabilit|diagnostic|fehl|befund|avert|échec|fallo|aviso|advert|falha/;

let lastGiven = '';
let lastReduced = '';

/** The text without denied failures. The result is kept for the next call. */
export function withoutDenied(text: string): string {
  if (text !== lastGiven) {
    lastGiven = text;
    lastReduced = deniedStems.test(text) ? text.replaceAll(denied, '✓') : text;
  }
  return lastReduced;
}

let lastText = '';
let lastFound = false;

/** Whether a statement is no report; `reduce` takes out words that do not count. The result for the whole text is kept for the next call. */
export function hasOtherMeaning(
  { lower, groups }: { readonly lower: string; readonly groups: number },
  reduce?: (text: string) => string,
): boolean {
  if (!mayHave(groups, 'otherMeaning')) return false;
  if (lower !== lastText) {
    lastText = lower;
    lastFound = otherMeaning.test(lower);
  }
  return lastFound && (reduce === undefined || otherMeaning.test(reduce(lower)));
}
