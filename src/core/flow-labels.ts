// The types of labels and hints of information flow control that come with tools and results.

/** Labels of information flow control that came with a result: of all of it, and of named fields of its data. */
export type FlowLabels = {
  /** Whether third parties can write it. */
  readonly integrity?: 'trusted' | 'untrusted';
  /** Whether it may be shown to everyone. */
  readonly confidentiality?: 'public' | 'private';
  /** The integrity of fields by name. */
  readonly fields?: Readonly<Record<string, 'trusted' | 'untrusted'>>;
};

/** What the origin of a tool says about it, for information flow control. */
export type ToolHints = {
  /** Whether the user trusts the origin: otherwise its hints only raise distrust and secrecy. */
  readonly isTrusted: boolean;
  /** Whether the origin was configured by the user, and not by a project or an editor. */
  readonly isOwn: boolean;
  /** The names by which the server of the tool is known: as configured, and that of its package. */
  readonly servers: readonly string[];
  /** The name of the tool there. */
  readonly tool: string;
  readonly destructive?: boolean;
  /** Whether a call reaches things outside the server, such as the web. */
  readonly openWorld?: boolean;
  readonly labels?: FlowLabels;
};
