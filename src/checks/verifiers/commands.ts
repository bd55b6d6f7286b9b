// Runs the command of a claim that says the command succeeds, only through the function of the caller, which has sandbox and gates.
import type { Claim, ClaimVerdict, Verifier, VerifyContext } from '../types.ts';
import { computedEvidence, decideExactly, isReadable, verifier } from './verifier.ts';

const name = 'commands';

/** The whole claim: a command in backticks that exits with a code, succeeds or fails. */
const pattern =
  /^(?:(?:running|the command) )?`([^`\n]{1,1000})` (?:(exits with (?:the )?(?:exit )?(?:code|status) (\d{1,3}))|(exits 0|succeeds|passes|runs without (?:an )?errors?|works)|(fails|exits with an error))[.!]?$/i;
const maxOutputChars = 2000;

async function verifyCommand({ text }: Claim, context: VerifyContext): Promise<ClaimVerdict | undefined> {
  const match = pattern.exec(text.trim());
  if (!match || !context.runCommand) return undefined;
  const [, command = '', , code, , fails] = match;
  const { exitCode, output } = await context.runCommand(command, context.signal);
  const holds = fails !== undefined ? exitCode !== 0 : exitCode === Number(code ?? 0);
  const evidence = computedEvidence(name, `$ ${command}\nexit code ${exitCode}\n${output.slice(-maxOutputChars)}`);
  const why = `The command exited with code ${exitCode}.`;
  return decideExactly(holds ? 'supported' : 'contradicted', name, [evidence], why);
}

/** Runs the command of a claim such as "`npm test` exits with code 0"; without `context.runCommand` it decides nothing. */
export const commandVerifier: Verifier = verifier({
  name,
  handles: (claim, { runCommand }) => runCommand !== undefined && isReadable(claim) && claim.text.includes('`'),
  verify: verifyCommand,
});
