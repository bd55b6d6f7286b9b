// Kinds of data by the names of the tools that return them, and the words by which users name them.

type DataKind = {
  readonly tools: RegExp;
  readonly words: RegExp;
  /** Whether results of such tools are private if nothing is declared. */
  readonly isPrivate?: true;
};

const words = (alternatives: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})`, 'iu');

const dataKinds: readonly DataKind[] = [
  {
    isPrivate: true,
    tools: /mail|inbox|imap/,
    words: words(
      'e-?mail|mail|inbox|messag|newsletter|repl(?:y|ies)|forward|antwort|nachricht|postfach|posteingang|courriel|message|correo|bandeja|mensaje',
    ),
  },
  {
    isPrivate: true,
    tools: /calendar|event|meeting|appointment|agenda/,
    words: words(
      'calendar|event|meeting|appointment|schedul|agenda|kalender|termin|besprechung|réunion|rendez|calendrier|reuni|cita|calendario|evento',
    ),
  },
  {
    isPrivate: true,
    tools: /contact|address_?book|employee|patient|customer|profile|user_?info|account_?info/,
    words: words(
      'contact|address|people|person|employee|patient|customer|profile|account|my (?:name|details|data|information)|kontakt|adress|mitarbeiter|kund|profil|cliente|perfil',
    ),
  },
  {
    isPrivate: true,
    tools: /balance|transaction|invoice|bank|iban|payslip|salar|payment|statement|tax|order_?history/,
    words: words(
      'balance|transaction|invoice|bank|iban|pay|salar|statement|tax|order|purchas|bought|spen[dt]|bill|receipt|kontostand|umsatz|rechnung|gehalt|überweis|bestell|facture|solde|commande|factura|saldo|pedido',
    ),
  },
  {
    isPrivate: true,
    tools: /chat|slack|channel|conversation|direct_?message|teams_message|whatsapp|sms/,
    words: words('chat|slack|channel|conversation|messag|thread|dm|kanal|unterhaltung|canal|conversa'),
  },
  {
    tools: /file|document|doc|drive|folder|note|page|sheet|read_?resource/,
    words: words(
      'file|document|docs?\\b|drive|folder|note|page|sheet|report|attach|datei|dokument|notiz|bericht|anhang|fichier|rapport|archivo|informe',
    ),
  },
  {
    tools: /repo|issue|pull|commit|branch|code|ticket|bug/,
    words: words('repo|issue|pull request|pr\\b|commit|branch|code|ticket|bug|fehler'),
  },
];

/** Whether results of a tool with this name are private if its declaration does not say. */
export const isPrivateName = (tool: string): boolean =>
  dataKinds.some(({ isPrivate, tools }) => isPrivate === true && tools.test(tool.toLowerCase()));

/** Words of names of tools that name no data. */
const plainNames: ReadonlySet<string> = new Set(
  'read list find search view show fetch load query lookup linked received unread current available information details'.split(
    ' ',
  ),
);

/** Whether a text of the user names the data that a tool returns: by a word of its kind, or of the name of the tool. */
export function namesData(text: string, tool: string): boolean {
  const name = tool.replace(/^.*__/, '').toLowerCase();
  if (dataKinds.some((kind) => kind.tools.test(name) && kind.words.test(text))) return true;
  const lower = text.toLowerCase();
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => word.length > 3 && !plainNames.has(word) && lower.includes(word.replace(/e?s$/, '')));
}
