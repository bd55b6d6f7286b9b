// Reads the most common statements of answers in German, French, Spanish and Chinese: files that were changed, tests and builds that ran and passed, commits, installations.
import { isPathLike } from './claim-paths.ts';
import { unmark } from './claim-text.ts';
import type { Task } from './commands.ts';
import { findAll } from '../find-all.ts';
import type { Reading } from './read-clause.ts';
import type { Action, GitOperation } from './types.ts';

type Change = 'create' | 'edit' | 'delete';
type Meaning = Change | 'run' | 'build' | 'install' | GitOperation;

/** The words of a language. Participles stand behind their object in German, before it else. */
type Language = {
  /** The beginning of a report in the first person. */
  readonly subject: RegExp;
  /** The auxiliary of a report in the passive voice. */
  readonly passive?: RegExp;
  readonly isVerbLast: boolean;
  /** Words that make a sentence no report. */
  readonly noReport: RegExp;
  /** Verbs by what they say was done; every one is a part of a pattern. */
  readonly verbs: Readonly<Partial<Record<Meaning, string>>>;
  readonly tests: RegExp;
  /** Tests that passed, possibly with their number. */
  readonly pass: RegExp;
  /** A build that passed. */
  readonly built?: RegExp;
  /** A number of files. */
  readonly files?: RegExp;
};

const german: Language = {
  subject: /(?<!\p{L})(?:ich habe|habe ich|wir haben|haben wir)(?!\p{L})|^habe(?!\p{L})/iu,
  passive:
    /(?<!\p{L})(?:wurden?|ist (?:jetzt|nun|nunmehr)|sind (?:jetzt|nun|nunmehr))(?!\p{L})|(?<!\p{L})(?:ist|sind)(?= \p{L}{3,20}(?:t|en)(?: und \p{L}{3,20})?\s*[.,!]?$)/iu,
  isVerbLast: true,
  noReport:
    /(?<!\p{L})(?:nicht|kein\p{L}*|nie|wenn|falls|ob|sobald|würden?|könnten?|sollten?|werden?|hätten?|früher|gestern|vorher|damals|ursprünglich|sie haben|du hast|außer|nur|von (?:dir|ihnen|anderen)|fehlge\p{L}+|scheiter\p{L}*|fehler\p{L}*|weil|nachdem|als|muss|müssen|kann|können|bitte|laut|jahr\p{L}*|version)(?!\p{L})|\?/iu,
  verbs: {
    edit: 'geändert|bearbeitet|angepasst|aktualisiert|korrigiert|überarbeitet|erweitert|umgeschrieben|refaktoriert|refactored|behoben|ergänzt|verbessert|verändert|modifiziert|ersetzt|umgebaut|vereinfacht|hinzugefügt|eingefügt|formatiert|repariert',
    create: 'erstellt|angelegt|erzeugt|geschrieben|generiert',
    delete: 'gelöscht|entfernt|beseitigt',
    run: 'ausgeführt|laufen lassen|laufen gelassen|durchgeführt|gestartet|durchlaufen',
    build: 'gebaut|kompiliert|übersetzt',
    install: 'installiert',
    commit: 'committet|committed|commitet|eingecheckt',
    push: 'gepusht|gepushed',
    merge: 'gemergt|gemerged',
    tag: 'getaggt',
    deployment: 'deployt|deployed|ausgerollt|bereitgestellt',
    publication: 'veröffentlicht',
  },
  tests: /(?<!\p{L})(?:(?:unit-?)?tests?|testsuite|testfälle)(?!\p{L})/iu,
  pass: /(?<!\p{L})(?:(?:alle|sämtliche|die|alle \d{1,6})\s+(?:\d{1,6}\s+)?(?:unit-?)?tests?\s+|(?:die|unsere)\s+testsuite\s+|alle\s+(?:\d{1,6}\s+)?|sie\s+|^tests?:?\s+|\bund\s+)(?:(?:wurden|haben|sind|ist|waren|laufen|läuft)\s+)?(?:(?:alle|jetzt|nun|wieder|dabei|ausgeführt und|sind|weiterhin|erfolgreich)\s+){0,4}(?:bestehen|bestanden|erfolgreich|grün|durch|durchgelaufen)(?:\s+(?:durch|durchgelaufen|bestanden))?\s*(?=$|[.,;!)])/iu,
  built:
    /(?<!\p{L})(?:der|das|die)?\s*(?:build|projekt|kompilierung|code)\s+(?:(?:ist|war|wurde|läuft|lief|baut|kompiliert)\s*)(?:(?:jetzt|nun|wieder)\s+)?(?:erfolgreich|grün|durch|fehlerfrei|durchgelaufen)(?:\s+(?:durch|durchgelaufen|gebaut|kompiliert|abgeschlossen))?\s*(?=$|[.,;!)])/iu,
  files: /(?<!\p{L})(zwei|drei|vier|fünf|sechs|\d{1,3})\s+(?:neue\s+)?dateien(?!\p{L})/iu,
};

const french: Language = {
  subject: /(?<!\p{L})(?:j['’]ai|nous avons)(?!\p{L})/iu,
  passive:
    /(?<!\p{L})(?:a (?:bien )?été|ont (?:tous |toutes |bien )?été|est (?:maintenant|désormais)|sont (?:maintenant|désormais))(?!\p{L})/iu,
  isVerbLast: false,
  noReport:
    /(?<!\p{L})(?:pas|jamais|aucun\p{L}*|si|quand|lorsque|devrai\p{L}*|pourrai\p{L}*|vous|tu|sauf|échou\p{L}*|échec\p{L}*|hier|avant|auparavant|parce|car|selon|par (?:vous|le|la|les|un|une)|en (?:19|20)\d\d|version)(?!\p{L})|\?/iu,
  verbs: {
    edit: 'modifiée?s?|éditée?s?|mise?s? à jour|corrigée?s?|ajoutée?s?|changée?s?|adaptée?s?|remplacée?s?|réécrite?s?|refactorisée?s?|réparée?s?|améliorée?s?|simplifiée?s?|formatée?s?',
    create: 'créée?s?|écrite?s?|générée?s?',
    delete: 'supprimée?s?|effacée?s?|retirée?s?',
    run: 'exécutée?s?|lancée?s?|effectuée?s?',
    build: 'compilée?s?|construite?s?',
    install: 'installée?s?',
    commit: 'comm?itt?ée?s?|validée?s?',
    push: 'poussée?s?|pushée?s?',
    merge: 'fusionnée?s?|mergée?s?',
    deployment: 'déployée?s?',
    publication: 'publiée?s?',
  },
  tests: /(?<!\p{L})(?:les|la suite de|tous les|mes|nos)\s+(?:\d{1,6}\s+)?tests(?!\p{L})/iu,
  pass: /(?<!\p{L})(?:(?:tous\s+)?les\s+(?:\d{1,6}\s+)?tests\s+(?:passent|sont passés|ont réussi|réussissent|sont verts|sont au vert|ont été exécutés avec succès)(?:\s+tous)?|ils\s+passent\s+tous|tous\s+passent|les\s+\d{1,6}\s+passent|la suite de tests (?:passe|est verte))(?:\s+(?:maintenant|désormais|avec succès))?\s*(?=$|[.,;!)])/iu,
  built:
    /(?<!\p{L})(?:le build|la compilation|le projet)\s+(?:passe|réussit|a réussi|compile|est réussie?|est vert)(?:\s+(?:maintenant|sans erreur|avec succès))?\s*(?=$|[.,;!)])/iu,
  files: /(?<!\p{L})(deux|trois|quatre|cinq|six|\d{1,3})\s+(?:nouveaux\s+)?fichiers(?!\p{L})/iu,
};

const spanish: Language = {
  subject:
    /(?<!\p{L})(?:he|hemos)(?!\p{L})(?=\s+\p{L}+(?:ado|ido|cho|to)(?!\p{L}))|^(?:modifiqué|cambié|edité|actualicé|corregí|creé|eliminé|borré|ejecuté|instalé|añadí|agregué)(?!\p{L})/iu,
  passive: /(?<!\p{L})(?:ha sido|han sido|fue|fueron|se ha|se han|está ahora|están ahora|ya está|ya están)(?!\p{L})/iu,
  isVerbLast: false,
  noReport:
    /(?<!\p{L})(?:no|nunca|ningun\p{L}*|si|cuando|debería\p{L}*|podría\p{L}*|usted|salvo|excepto|fall\p{L}*|ayer|antes|porque|según|por (?:el|la|los|usted|un)|en (?:19|20)\d\d|versión)(?!\p{L})|\?/iu,
  verbs: {
    edit: 'modificad[oa]s?|cambiad[oa]s?|editad[oa]s?|actualizad[oa]s?|corregid[oa]s?|añadid[oa]s?|agregad[oa]s?|reemplazad[oa]s?|mejorad[oa]s?|refactorizad[oa]s?|arreglad[oa]s?|modifiqué|cambié|edité|actualicé|corregí|añadí|agregué',
    create: 'cread[oa]s?|escrit[oa]s?|generad[oa]s?|creé',
    delete: 'eliminad[oa]s?|borrad[oa]s?|quitad[oa]s?|eliminé|borré',
    run: 'ejecutad[oa]s?|lanzad[oa]s?|ejecuté',
    build: 'compilad[oa]s?|construid[oa]s?',
    install: 'instalad[oa]s?|instalé',
    commit: 'hecho (?:un |el )?commit|confirmad[oa]s?|commiteado',
    push: 'hecho (?:un |el )?push|subid[oa]s?|pusheado',
    merge: 'fusionad[oa]s?|mergeado',
    deployment: 'desplegad[oa]s?',
    publication: 'publicad[oa]s?',
  },
  tests: /(?<!\p{L})(?:las|los|todas las|todos los)\s+(?:\d{1,6}\s+)?(?:pruebas|tests)(?!\p{L})/iu,
  pass: /(?<!\p{L})(?:(?:todas\s+|todos\s+)?(?:las|los)\s+(?:\d{1,6}\s+)?(?:(?:pruebas|tests)\s+)?(?:pasan|pasaron|han pasado|están en verde)|(?:todas|todos|y)\s+(?:pasan|pasaron|han pasado))(?:\s+(?:ahora|correctamente|todas|todos))?\s*(?=$|[.,;!)])/iu,
  built:
    /(?<!\p{L})(?:el build|la compilación|el proyecto)\s+(?:pasa|pasó|compila|es exitos[oa]|fue exitos[oa]|ha tenido éxito|funciona)(?:\s+(?:ahora|correctamente|sin errores))?\s*(?=$|[.,;!)])/iu,
  files: /(?<!\p{L})(dos|tres|cuatro|cinco|seis|\d{1,3})\s+archivos(?!\p{L})/iu,
};

const chinese: Language = {
  subject:
    /我(?:们)?(?:已经|已|刚刚|也|还)?(?:修改|更新|编辑|创建|新建|删除|运行|跑|执行|提交)|(?:^|[，；])(?:已经|已)(?:修改|更新|编辑|创建|新建|删除|运行|执行|提交)/u,
  passive: /(?:已经|已)被?(?:修改|更新|编辑|创建|新建|删除|运行|执行|提交)/u,
  isVerbLast: false,
  noReport: /没有|未|不|如果|可以|请|将|应该|需要|失败|(?<!删)除了|之前|你|您|吗|？|\?/u,
  verbs: {
    edit: '(?:修改|更新|编辑)(?:完)?了|已(?:经)?被?(?:修改|更新|编辑)',
    create: '(?:创建|新建)(?:完)?了|已(?:经)?被?(?:创建|新建)',
    delete: '删除(?:完)?了|已(?:经)?被?删除',
    run: '(?:运行|跑|执行)(?:完)?了|已(?:经)?被?(?:运行|执行)',
    commit: '提交(?:完)?了|已(?:经)?被?提交',
  },
  tests: /测试/u,
  pass: /(?:所有|全部)(\s*\d{1,6}\s*)?(?:个)?(?:的)?(?:测试)?(?:都|均|已)*通过|测试(?:都|均|已|全部)+通过/u,
};

const isWord = (pattern: string, language: Language): RegExp =>
  language === chinese ? new RegExp(pattern, 'gu') : new RegExp(String.raw`(?<!\p{L})(?:${pattern})(?!\p{L})`, 'giu');

/** Each language with its verbs as one pattern, and a pattern for each meaning. */
const languages = [german, french, spanish, chinese].map((language) => ({
  ...language,
  all: isWord(Object.values(language.verbs).join('|'), language),
  meanings: (Object.entries(language.verbs) as [Meaning, string][]).map(
    ([meaning, pattern]) => [meaning, new RegExp(`^(?:${pattern})$`, 'iu')] as const,
  ),
}));
type Compiled = (typeof languages)[number];

const pathPattern = /\uE000+|[\w@.~-]+(?:\/[\w@.~-]+)*\.\w{1,10}(?![\w/])/g;

/** Reads the statements of a sentence. Sentences with a negation, a condition or an exception make none. */
export function readLanguages({ answer, sentence, words, lower, hasCodeBlock }: Reading): readonly Action[] {
  if (
    hasCodeBlock ||
    !(words.shape.includes('G') || (words.shape.includes('y') && /\bhe \p{L}+(?:do|cho|to)\b/u.test(lower)))
  )
    return [];
  const actions: Action[] = [];
  let at = 0;
  for (const part of sentence.text.split(/(?<=[。！])/)) {
    for (const language of languages) readPart(language, answer.slice(sentence.start + at), part, actions);
    at += part.length;
  }
  return actions;
}

const numbers: Readonly<Record<string, number>> = {
  zwei: 2,
  deux: 2,
  dos: 2,
  drei: 3,
  trois: 3,
  tres: 3,
  vier: 4,
  quatre: 4,
  cuatro: 4,
  fünf: 5,
  cinq: 5,
  cinco: 5,
  sechs: 6,
  six: 6,
  seis: 6,
};

function readPart(language: Compiled, answer: string, text: string, actions: Action[]): void {
  const own = language.subject.exec(text);
  const passive = own ? null : (language.passive?.exec(text) ?? null);
  const pass = language.pass.exec(text);
  const built = language.built?.exec(text);
  if ((!own && !pass && !passive && !built) || language.noReport.test(text)) return;
  // "They all pass" is about tests if the sentence names them.
  const namesTests = language.tests.test(text);
  if (pass && (namesTests || language.tests.test(pass[0]))) {
    const count = Number(/\d+/.exec(pass[0])?.[0] ?? Number.NaN);
    actions.push({ type: 'pass', task: 'test', ...(Number.isNaN(count) ? {} : { count }) });
  }
  if (built) actions.push({ type: 'pass', task: 'build' });
  if (!own && !passive) return;
  const start = own?.index ?? 0;
  const found = findAll(language.all, text).filter(({ index }) => index >= start);
  for (const [i, verb] of found.entries()) {
    const end = verb.index + verb[0].length;
    const previous = found[i - 1];
    const isBefore = language.isVerbLast || (passive !== null && !/^(?:se|已)/iu.test(passive[0]));
    const behind = previous ? previous.index + previous[0].length : start;
    const [from, to] = isBefore ? [behind, verb.index] : [end, found[i + 1]?.index ?? text.length];
    const area = text.slice(from, to);
    const object = isBefore ? area : (area.split(/[，：:]|,\s+(?=\p{L}+\s+\p{L}+\s)/u)[0] ?? '');
    const meaning = language.meanings.find(([, pattern]) => pattern.test(verb[0]))?.[0];
    if (meaning !== undefined)
      readMeaning(language, meaning, { answer, text, from, object, isPassive: passive !== null }, actions);
  }
}

type Part = {
  readonly answer: string;
  readonly text: string;
  readonly from: number;
  readonly object: string;
  readonly isPassive: boolean;
};

function readMeaning(language: Compiled, meaning: Meaning, part: Part, actions: Action[]): void {
  const { object, isPassive } = part;
  switch (meaning) {
    case 'create':
    case 'edit':
    case 'delete': {
      const word = language.files?.exec(object)?.[1]?.toLowerCase();
      const named = readPaths(part, meaning);
      actions.push(...named);
      if (word !== undefined && named.length === 0)
        actions.push({ type: 'file-count', change: meaning, count: numbers[word] ?? Number(word) });
      return;
    }
    case 'run': {
      const task: Task | undefined = language.tests.test(object)
        ? 'test'
        : /\bbuild\b/i.test(object)
          ? 'build'
          : undefined;
      if (task) actions.push({ type: 'run', task });
      return;
    }
    case 'build':
      if (
        /(?<!\p{L})(?:projekt|projet|proyecto|code|código|app|anwendung|application|aplicación)(?!\p{L})/iu.test(object)
      )
        actions.push({ type: 'run', task: 'build' });
      return;
    case 'install': {
      const names = findAll(/\uE000+/g, object).map(({ index, 0: found }) =>
        unmark(part.answer.slice(part.from + index, part.from + index + found.length)),
      );
      if (names.length > 0)
        actions.push(
          ...names.filter((name) => /^@?[\w./-]+$/.test(name)).map((name): Action => ({ type: 'install', name })),
        );
      else if (/abhängigkeiten|pakete|dépendances|paquets|dependencias|paquetes/i.test(object))
        actions.push({ type: 'install' });
      return;
    }
    case 'branch':
    case 'cherry-pick':
    case 'commit':
    case 'deployment':
    case 'issue':
    case 'merge':
    case 'publication':
    case 'pull request':
    case 'push':
    case 'rebase':
    case 'squash':
    case 'stash':
    case 'tag':
    case 'undo commit':
    default: {
      const isWork =
        /änderung|alles|fix|modification|changement|tout|cambio|todo|branch|rama|branche|version|paket|paquet|app|dienst|service|servicio|\uE000/i.test(
          object,
        );
      const isShort = !language.isVerbLast || object.trim().length < 60;
      if (
        meaning === 'commit'
          ? isShort && (!isPassive || isWork)
          : isWork || object.trim() === '' || /^\s*(?:und|et|y)\s*$/i.test(object)
      )
        actions.push({ type: 'git', operation: meaning });
    }
  }
}

/** Words of these languages that show that a name is not the object itself but the place of the change. */
const places =
  /(?:^|[\s(])(?:in|zu|aus|dans|en|de|à|del|desde|von|mit|avec|con)\s+(?:der\s+|die\s+|das\s+|den\s+|le\s+|la\s+|el\s+)?$|在\s*$|从\s*$/iu;

function readPaths({ answer, text, from, object }: Part, change: Change): readonly Action[] {
  const actions: Action[] = [];
  for (const match of findAll(pathPattern, object)) {
    const at = from + match.index;
    const path = unmark(answer.slice(at, at + match[0].length));
    if (!isPathLike(path, match[0].startsWith('\uE000'))) continue;
    const isPlace = places.test(text.slice(from, at));
    if (!isPlace || change === 'edit') actions.push({ type: 'file', change, path });
  }
  return actions;
}
