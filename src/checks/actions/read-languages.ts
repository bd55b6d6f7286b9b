// Reads the most common statements of answers in German, French, Spanish and Chinese: files that were changed, tests that ran and passed, commits.
import { isPathLike } from './claim-paths.ts';
import { unmark } from './claim-text.ts';
import { findAll } from './find-all.ts';
import type { Reading } from './read-clause.ts';
import type { Action } from './types.ts';

type Change = 'create' | 'edit' | 'delete';

/** The words of a language. Verbs stand before their object, in German behind it. */
type Language = {
  /** The beginning of a report in the first person. */
  readonly subject: RegExp;
  readonly isVerbLast: boolean;
  /** Words that make a sentence no report. */
  readonly noReport: RegExp;
  /** Every verb of the list below, in one pattern. */
  readonly verbs: RegExp;
  readonly create: RegExp;
  readonly delete: RegExp;
  readonly run: RegExp;
  readonly commit: RegExp;
  readonly tests: RegExp;
  /** Tests that passed, possibly with their number. */
  readonly pass: RegExp;
};

const languages: readonly Language[] = [
  {
    subject: /(?<!\p{L})(?:ich habe|habe ich|wir haben|haben wir)(?!\p{L})|^habe(?!\p{L})/iu,
    isVerbLast: true,
    noReport:
      /(?<!\p{L})(?:nicht|kein\p{L}*|nie|wenn|falls|ob|sobald|würde|könnte|sollte|werde|hätte|früher|gestern|sie haben|du hast|außer|nur|fehlge\p{L}+|scheiter\p{L}*|fehler\p{L}*)(?!\p{L})|\?/iu,
    verbs:
      /(?<!\p{L})(?:geändert|bearbeitet|angepasst|aktualisiert|korrigiert|erstellt|angelegt|hinzugefügt|gelöscht|entfernt|ausgeführt|laufen lassen|laufen gelassen|committet|eingecheckt)(?!\p{L})/giu,
    create: /^(?:erstellt|angelegt)/iu,
    delete: /^(?:gelöscht|entfernt)/iu,
    run: /^(?:ausgeführt|laufen)/iu,
    commit: /^(?:committet|eingecheckt)/iu,
    tests: /(?<!\p{L})(?:tests?|testsuite|unit-tests)(?!\p{L})/iu,
    pass: /(?<!\p{L})(?:alle\s+(?:\d{1,6}\s+)?(?:tests\s+)?|(?:die|alle)\s+(?:\d{1,6}\s+)?tests\s+|sie\s+)(?:bestehen|(?:sind|waren|laufen)(?:\s+(?:alle|jetzt|nun|wieder))*\s+(?:erfolgreich|grün|durch|bestanden|durchgelaufen))(?:\s+durch)?\s*(?=$|[.,;!)])/iu,
  },
  {
    subject: /(?<!\p{L})(?:j['’]ai|nous avons)(?!\p{L})/iu,
    isVerbLast: false,
    noReport:
      /(?<!\p{L})(?:pas|jamais|aucun\p{L}*|si|quand|lorsque|devrai\p{L}*|pourrai\p{L}*|vous|tu|sauf|échou\p{L}*|échec\p{L}*|hier)(?!\p{L})|\?/iu,
    verbs:
      /(?<!\p{L})(?:modifié|édité|mis à jour|corrigé|ajouté|créé|supprimé|effacé|exécuté|lancé|commité|committé)(?!\p{L})/giu,
    create: /^créé/iu,
    delete: /^(?:supprimé|effacé)/iu,
    run: /^(?:exécuté|lancé)/iu,
    commit: /^comm?m?it/iu,
    tests: /(?<!\p{L})(?:les|la suite de)\s+(?:\d{1,6}\s+)?tests(?!\p{L})/iu,
    pass: /(?<!\p{L})(?:(?:tous\s+)?les\s+(\d{1,6}\s+)?tests\s+(?:passent|sont passés|réussissent)(?:\s+tous)?|ils\s+passent\s+tous|tous\s+passent|les\s+\d{1,6}\s+passent)(?:\s+maintenant)?\s*(?=$|[.,;!)])/iu,
  },
  {
    subject:
      /(?<!\p{L})(?:he|hemos)(?!\p{L})(?=\s+\p{L}+(?:ado|ido|cho|to)(?!\p{L}))|^(?:modifiqué|cambié|edité|actualicé|corregí|creé|eliminé|borré|ejecuté)(?!\p{L})/iu,
    isVerbLast: false,
    noReport:
      /(?<!\p{L})(?:no|nunca|ningun\p{L}*|si|cuando|debería\p{L}*|podría\p{L}*|usted|salvo|excepto|fall\p{L}*|ayer)(?!\p{L})|\?/iu,
    verbs:
      /(?<!\p{L})(?:modificado|cambiado|editado|actualizado|corregido|añadido|creado|eliminado|borrado|ejecutado|hecho (?:un |el )?commit|modifiqué|cambié|edité|actualicé|corregí|creé|eliminé|borré|ejecuté)(?!\p{L})/giu,
    create: /^cre(?:ado|é)/iu,
    delete: /^(?:elimin|borr)/iu,
    run: /^ejecut/iu,
    commit: /^hecho/iu,
    tests: /(?<!\p{L})(?:las|los)\s+(?:\d{1,6}\s+)?(?:pruebas|tests)(?!\p{L})/iu,
    pass: /(?<!\p{L})(?:(?:todas\s+|todos\s+)?(?:las|los)\s+(\d{1,6}\s+)?(?:(?:pruebas|tests)\s+)?(?:pasan|pasaron|han pasado)|(?:todas|todos|y)\s+(?:pasan|pasaron|han pasado))(?:\s+(?:ahora|correctamente|todas|todos))?\s*(?=$|[.,;!)])/iu,
  },
  {
    subject:
      /我(?:们)?(?:已经|已|刚刚|也|还)?(?:修改|更新|编辑|创建|新建|删除|运行|跑|执行|提交)|^(?:已经|已)(?:修改|更新|编辑|创建|新建|删除|运行|执行|提交)/u,
    isVerbLast: false,
    noReport: /没有|未|不|如果|可以|请|将|应该|需要|失败|(?<!删)除了|之前|你|您|吗|？|\?/u,
    verbs:
      /(?:修改|更新|编辑|创建|新建|删除|运行|跑|执行|提交)(?:完)?了|已(?:经)?(?:修改|更新|编辑|创建|新建|删除|运行|执行|提交)/gu,
    create: /创建|新建/u,
    delete: /删除/u,
    run: /运行|跑|执行/u,
    commit: /提交/u,
    tests: /测试/u,
    pass: /(?:所有|全部)(\s*\d{1,6}\s*)?(?:个)?(?:的)?(?:测试)?(?:都|均|已)*通过|测试(?:都|均|已|全部)+通过/u,
  },
];

/** Words without which a sentence is in none of these languages. */
export const languageWords: RegExp =
  /\bhabe|\bhaben\b|\btests (?:sind|laufen|bestehen|passent|pasan)|\bj['’]ai\b|\bnous avons\b|\bhe\b|\b(?:modifiqu|cambi|edit|actualic|correg|cre|elimin|borr|ejecut)[éí]|\bhemos\b|\bpruebas\b|[\u4e00-\u9fff]/i;

const pathPattern = /\uE000+|[\w@.~-]+(?:\/[\w@.~-]+)*\.\w{1,10}(?![\w/])/g;

/** Reads the statements of a sentence. Sentences with a negation, a condition or an exception make none. */
export function readLanguages({ answer, sentence, lower, hasCodeBlock }: Reading): readonly Action[] {
  if (hasCodeBlock || !languageWords.test(lower)) return [];
  const actions: Action[] = [];
  let at = 0;
  for (const part of sentence.text.split(/(?<=[。！])/)) {
    for (const language of languages) readPart(language, answer.slice(sentence.start + at), part, actions);
    at += part.length;
  }
  return actions;
}

function readPart(language: Language, answer: string, text: string, actions: Action[]): void {
  const subject = language.subject.exec(text);
  const pass = language.pass.exec(text);
  if ((!subject && !pass) || language.noReport.test(text)) return;
  // "They all pass" is about tests if the sentence names them.
  const namesTests = language.tests.test(text);
  if (pass && (namesTests || language.tests.test(pass[0]))) {
    const count = Number(/\d+/.exec(pass[0])?.[0] ?? Number.NaN);
    actions.push({ type: 'pass', task: 'test', ...(Number.isNaN(count) ? {} : { count }) });
  }
  if (!subject) return;
  const start = subject.index;
  const found = findAll(language.verbs, text).filter(({ index }) => index >= start);
  for (const [i, verb] of found.entries()) {
    const end = verb.index + verb[0].length;
    const [from, to] = language.isVerbLast
      ? [i === 0 ? start : (found[i - 1]?.index ?? 0) + (found[i - 1]?.[0].length ?? 0), verb.index]
      : [end, found[i + 1]?.index ?? text.length];
    const object = text.slice(from, to).split(/[，：:]|,\s+(?=\p{L}+\s+\p{L}+\s)/u)[0] ?? '';
    if (language.commit.test(verb[0])) {
      if (!language.isVerbLast || object.trim().length < 60) actions.push({ type: 'git', operation: 'commit' });
    } else if (language.run.test(verb[0])) {
      if (language.tests.test(object)) actions.push({ type: 'run', task: 'test' });
    } else {
      const change: Change = language.create.test(verb[0])
        ? 'create'
        : language.delete.test(verb[0])
          ? 'delete'
          : 'edit';
      readPaths(answer, text, from, from + object.length, change, actions);
    }
  }
}

/** Words of these languages that show that a name is not the object itself but the place of the change. */
const places =
  /(?:^|[\s(])(?:in|zu|aus|dans|en|de|à|del|desde|von|mit|avec|con)\s+(?:der\s+|die\s+|das\s+|den\s+|le\s+|la\s+|el\s+)?$|在\s*$|从\s*$/iu;

function readPaths(answer: string, text: string, from: number, to: number, change: Change, actions: Action[]): void {
  const named = findAll(pathPattern, text.slice(from, to)).map((match) => ({
    at: from + match.index,
    isCode: match[0].startsWith('\uE000'),
    path: unmark(answer.slice(from + match.index, from + match.index + match[0].length)),
  }));
  for (const { at, path, isCode } of named) {
    if (!isPathLike(path, isCode)) continue;
    const isPlace = places.test(text.slice(from, at));
    if (isPlace && change !== 'edit') continue;
    actions.push({ type: 'file', change, path });
  }
}
