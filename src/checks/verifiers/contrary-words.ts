// Words that say that something ended, is missing or is forbidden, and pairs of words that exclude each other.

/** Words of a statement that may exclude another one on the same subject. */
export const contraryWords: string =
  'taken lack lacks lacked lacking missing unavailable removed removes removal dropped drops withdrawn withdrew withdraws withdrawal lost loses losing shut shuts fail fails failed failing failure failures ended ceased ceases stopped stops ' +
  'banned bans ban forbidden forbids forbade prohibited prohibits prohibition disallowed disabled discontinued cancelled canceled cancels abandoned abolished revoked refused refuses rejected rejects denied denies ' +
  'impossible illegal invalid false wrong untrue incorrect dangerous broken exception exceptions except excluding excluded excludes exempt longer former formerly previously reversed undone resigned retired retracted overturned expired obsolete outdated ' +
  'extended extends postponed changed changes revised updated corrected switched delayed raised lowered reduced doubled halved stolen left died quit now elected appointed successor succeeded replaces replaced renamed relocated sold demolished closed closes';

/** Words that exclude each other, as forms of the one and of the other. */
export const oppositeWords: readonly (readonly [one: string, other: string])[] = [
  ['open opens opened opening', 'closed closes close shut shuts closing'],
  [
    'increase increases increased increasing rise rises rose risen grew grows grown growing gained',
    'decrease decreases decreased decreasing fall falls fell fallen shrank shrinks declined declines dropped drops sank',
  ],
  [
    'allowed allows allow permitted permits may legal',
    'forbidden forbids banned bans prohibited prohibits disallowed illegal',
  ],
  ['success successful successfully succeeded succeeds passed passes', 'failure failures failed fails unsuccessful'],
  ['safe safely harmless', 'dangerous unsafe harmful hazardous toxic'],
  ['true right correct', 'false wrong incorrect untrue'],
  ['mandatory required compulsory obligatory requires', 'optional voluntary'],
  ['enabled active', 'disabled inactive'],
  ['won wins win winner', 'lost loses lose loser'],
  ['more higher larger greater bigger longer taller faster older', 'less lower smaller fewer shorter slower younger'],
  ['accepted accepts approved approves', 'rejected rejects refused refuses'],
  ['alive living', 'dead died dies'],
  ['public', 'private'],
  ['free', 'paid'],
  ['full', 'empty'],
  ['north', 'south'],
  ['east', 'west'],
  ['least minimum minimal', 'most maximum maximal'],
  ['always', 'never rarely sometimes'],
  ['buys bought buy', 'sells sold sell'],
  ['started starts begins began', 'ended ends stopped stops finished'],
  ['guilty convicted', 'innocent acquitted'],
  ['percent', 'percentage'],
];
