// Says in one pass over the letters of a statement which groups of words it may have: a pattern whose words are not there is not tried.
import { hashCode, hashStart } from '../word-hash.ts';
import { entries } from './lexicon.ts';

/** The groups of words, as bits. A text without a bit has no word of the group; a text with it may have one. */
const wordGroups = {
  /** Conditions, plans, wishes, history, reports on others. */
  otherMeaning: 1,
  /** Something was run. */
  run: 2,
  /** What a command printed. */
  report: 4,
  /** A good outcome. */
  good: 8,
  /** A word for none or zero. */
  none: 16,
  /** The final state. */
  final: 32,
  /** The state of a service. */
  status: 64,
  /** A class of commands, such as tests. */
  task: 128,
  /** What a statement is good for. */
  purpose: 256,
  /** A change of a file. */
  change: 512,
} as const;

type Group = keyof typeof wordGroups;

/** The words of the groups; of a phrase one word is enough. A word is compared by its first five letters, and a star stands for further letters. */
const words: readonly (readonly [group: Group, list: string])[] = [
  [
    'otherMeaning',
    'if whether when whenever unless until once would could should might may must can cannot will shall make ensure see check get keep be confirm verify sure so expect require you your they their previous earlier originally before initially first baseline goal goals target example e claim ci pipeline workflow because hope* believe think likely probably presumably appear seem seems mean means even always usually typically never not nor neither why how please need needs needed want wants let plan plans planned todo do next except apart only still yesterday upstream main used already instead failing broken skip skips skipped partly partially some most almost mostly each every t ll d ' +
      'wenn falls sobald würde könnte sollte solle sollen muss müssen kann können wird nicht nie vorher zuvor zuerst anfangs bitte du dein* ihr* quand lorsque pourr devr* serai sera seront peut peuvent doit doivent pas avant abord vous votre cuando podr* deber sería será* puede debe deben no nunca antes primero usted quando dovrebbe não si',
  ],
  [
    'run',
    'reran ran running executed called launched started invoked ejecut lancé lance exécut ausgeführt gestartet aufgerufen compil laufen script printed reported output',
  ],
  [
    'report',
    'report show shows showed shown print found finds list lists listed return output gave gives counted say says result respond answer measured meldet zeigt ausgabe ergab liefert fand gefunden findet antwortet affiche indique renvoie trouve signale montre muestra mostró devuelve devolvió encontró encuentra indica imprime informa',
  ],
  [
    'good',
    'pass passes passing passt green clean success complete finish error warning ok okay fine happy through works builds compiles erfolgreich bestanden bestehen fehlerfrei grün sauber durch réussi succès vert correctamente éxito exitos pasa pasan pasaron super verde sucesso passa passam',
  ],
  [
    'none',
    'no zero without free none nothing ohne keine nichts null sans aucun zéro rien sin ningún ningun cero nada senza nessun sem nenhum',
  ],
  [
    'final',
    'after final finished end current reran rerun retested rechecked ran run tested checked more nach fertig endgültig erneut après nouveau después despues nuevo otra',
  ],
  ['status', 'running ready healthy active online completed succeeded bound available up'],
  [
    'task',
    'test tests suite specs testlauf pruebas tested getestet build compil kompil lint linter linting type typecheck typprüfung typage plan image abbild deploy rollout despliegue déploi',
  ],
  ['purpose', 'so damit pour para'],
  [
    'change',
    'geändert angepasst ergänzt erstellt angelegt gelöscht entfernt hinzugefügt aktualisiert verschoben korrigiert behoben eingebaut erweitert überarbeitet umgestellt modifi ajouté créé créée créés supprimé corrigé mis miss mise mises déplacé remplacé adapté creada creado creé añadí añadid agregué actuali corregi corregí elimin borra borré cambia cambié movida movido edité editad',
  ],
];

const changes: ReadonlySet<string> = new Set(['create', 'edit', 'delete', 'move']);
const pastChanges = entries.flatMap(({ word, verb }) =>
  verb?.form === 'past' && changes.has(verb.kind) ? [word] : [],
);

const prefixLength = 5;
const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** The beginnings that stand for a word of a list. */
function expandStart(word: string): readonly string[] {
  const stem = word.replace('*', '').slice(0, prefixLength);
  if (!word.endsWith('*') || stem.length === prefixLength) return [stem];
  return [stem, ...Array.from(alphabet, (letter) => expandStart(`${stem}${letter}*`)).flat()];
}

/** The bits of beginnings at the last bits of their hashes; beginnings at the same place share their bits. */
const places = 0x4000;
const bits = new Uint16Array(places);
function addStart(word: string, group: number): void {
  for (const start of expandStart(word)) {
    let hash = hashStart;
    for (let at = 0; at < start.length; at++) hash = hashCode(hash, start.charCodeAt(at));
    bits[hash & (places - 1)] = (bits[hash & (places - 1)] ?? 0) | group;
  }
}
for (const [group, list] of words) for (const word of list.split(' ')) addStart(word, wordGroups[group]);
for (const word of pastChanges) addStart(/^\p{L}+/u.exec(word)?.[0] ?? '', wordGroups.change);

/** What a character is: a letter, a sign, or one that is not known here. */
const [sign, letter, unknown] = [0, 1, 2] as const;
const kinds = new Uint8Array(0x10000).fill(unknown);
for (const [from, to] of [
  [0x00, 0x80],
  [0xa0, 0xc0],
  [0x20_00, 0x20_70],
  [0x21_90, 0x24_00],
  [0x25_00, 0x27_c0],
  [0xd8_3c, 0xd8_3f],
  [0xdc_00, 0xe0_02],
] as const)
  kinds.fill(sign, from, to);
for (const [from, to] of [
  [0x41, 0x5b],
  [0x61, 0x7b],
  [0xc0, 0x1_7f],
] as const)
  kinds.fill(letter, from, to);
for (const [code, kind] of [
  [0xaa, unknown],
  [0xb5, unknown],
  [0xba, unknown],
  [0xd7, sign],
  [0xf7, sign],
  [0x1_30, unknown],
] as const)
  kinds[code] = kind;

/** The groups of signs. */
const signGroups = new Uint8Array(0x80);
signGroups['?'.charCodeAt(0)] = wordGroups.otherMeaning;
signGroups['0'.charCodeAt(0)] = wordGroups.none;

/** Symbols can be signs of a good outcome; placeholders of code are none. */
const firstSymbol = 0x21_90;
const firstPlaceholder = 0xe0_00;

/** Whether a text with these groups may have a word of a group. */
export const mayHave = (groups: number, group: Group): boolean => (groups & wordGroups[group]) !== 0;

/** Reads the groups of a text. A text with a character that is not known may have all of them. */
export function readWordGroups(text: string): number {
  let found = 0;
  const { length } = text;
  for (let at = 0; at < length; at++) {
    let code = text.charCodeAt(at);
    let kind = kinds[code] ?? unknown;
    if (kind === letter) {
      const last = at + prefixLength;
      let hash = hashStart;
      do {
        // A bit is the difference between the cases of a letter, also of one with an accent.
        if (at < last) hash = hashCode(hash, code | 32);
        at++;
        code = at < length ? text.charCodeAt(at) : 0;
        kind = kinds[code] ?? unknown;
      } while (kind === letter);
      found |= bits[hash & (places - 1)] ?? 0;
    }
    if (kind === unknown) return -1;
    if (code < 0x80) found |= signGroups[code] ?? 0;
    else if (code >= firstSymbol && code < firstPlaceholder) found |= wordGroups.good;
  }
  return found;
}
