// The types of information flow control: labels of values, declarations of tools, and decisions about calls.
import type { Json } from '../../core/index.ts';

/** The integrity of a value: typed or approved by the user, returned by a first-party field, written by a third party, or found nowhere. */
export type Integrity = 'user' | 'trusted' | 'untrusted' | 'unknown';

/** What a call of a tool does. `confirm` completes an effect that is pending, such as a one-time code. */
export type FlowEffect = 'read' | 'write' | 'external' | 'confirm';

/** Roles of parameters that decide where an effect goes and what it acts on. */
export const controlRoles = ['recipient', 'account', 'url', 'path', 'id', 'amount', 'secret', 'title'] as const;
/** Roles of parameters that hold content. Of a `command` the hosts are control values; a `link` is one unless it is copied as it stands. */
export const contentRoles = ['body', 'query', 'time', 'flag', 'coupon', 'otp', 'link', 'command'] as const;

/** The role of a parameter that decides where an effect goes and what it acts on. */
export type ControlRole = (typeof controlRoles)[number];
/** The role of a parameter. */
export type ParameterRole = ControlRole | (typeof contentRoles)[number];

/** The integrity of what a tool returns: all of it, or that of named fields. Fields that are not named are trusted. */
export type OutputDeclaration =
  | 'trusted'
  | 'untrusted'
  /** The words of the user, such as the answer to a question. */
  | 'user'
  /** A confirmation of the program itself. It adds nothing; an error is untrusted. */
  | 'none'
  | {
      /** Fields with text of third parties. */
      readonly untrusted?: readonly string[];
      /** Fields that name a person, such as a sender. */
      readonly identity?: readonly string[];
      /** The only trusted fields, as paths from the root without positions, such as `items.id`. All others are untrusted. */
      readonly trusted?: readonly string[];
    };

/** What a tool does, for the flow policy. */
export type ToolDeclaration = {
  readonly effect: FlowEffect;
  /** The verb of the effect, one of the word lists of actions. */
  readonly action?: string;
  /** Whether the effect deletes, transfers, or changes credentials. */
  readonly destructive?: boolean;
  /** The role of each parameter. A parameter that is not named is a control parameter. */
  readonly inputs?: Readonly<Record<string, ParameterRole>>;
  readonly output?: OutputDeclaration;
  /** Whether the output is private. Without it, the name of the tool decides. */
  readonly private?: boolean;
  /** Whether labels of its results may lower distrust, because the user trusts its server. Labels that raise it always count. */
  readonly trustsLabels?: boolean;
};

/** The declarations of tools, and the words by which users ask for each action. */
export type FlowDeclarations = {
  readonly tools: ReadonlyMap<string, ToolDeclaration>;
  readonly actions: ReadonlyMap<string, RegExp>;
};

/** The declarations of the tools of a server, one line a tool: `name effect action parameter:role ... > output`. `!` after the effect is destructive, `*` is private. */
export type ServerDeclarations = {
  readonly name: string;
  readonly packages: readonly string[];
  readonly tools: string;
};

/** A call as the policy sees it. */
export type FlowCall = { readonly id: string; readonly tool: string; readonly input: Json };

/** Where a text comes from. */
export type FlowSource = {
  /** The tool, or what else the text came through. */
  readonly tool: string;
  readonly call: string;
  /** The path of the field, such as `[0].body`. */
  readonly field?: string;
  /** What was read: a file, an address, or the input of the call. */
  readonly of?: string;
  /** Why the data is private; only of private data. */
  readonly why?: string;
};

/** A value of a call with its label. */
export type LabelledValue = {
  /** The path of the parameter, such as `recipients[0]`. */
  readonly parameter: string;
  /** `egress`: not a value of the call, but a place that it can carry private data to; `parameter` names the place, `source` the data. */
  readonly role: ParameterRole | 'undeclared' | 'egress';
  readonly value: string;
  readonly label: Integrity;
  readonly source?: FlowSource | undefined;
  /** Where the value was found: a text of a third party, and the token that was looked for. */
  readonly found?: { readonly text: string; readonly token: string } | undefined;
  /** The text around the value in its source; only of values that need an approval. */
  readonly context?: string;
};

/** Why a call needs an approval. */
export type FlowRule =
  | 'undeclared-tool'
  | 'undeclared-parameter'
  | 'confirms-refused'
  | 'confirms-nothing'
  | 'refused-before'
  | 'untrusted-value'
  | 'untrusted-value-not-requested'
  | 'untrusted-content'
  | 'unnamed-target'
  | 'not-requested'
  | 'private-data';

/** The decision about a call. */
export type FlowDecision =
  | { readonly type: 'allow'; readonly values: readonly LabelledValue[] }
  | {
      readonly type: 'ask' | 'deny';
      readonly rule: FlowRule;
      readonly values: readonly LabelledValue[];
      /** The values for which an approval is asked. */
      readonly bad: readonly LabelledValue[];
    };
