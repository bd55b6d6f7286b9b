// The units of length, area, volume, mass, time, speed, data and temperature, as exact factors.
import { rational, type Rational } from './rational.ts';

/** What a unit measures. `calendar` is months and years, which have no fixed number of days. */
export type Dimension = 'length' | 'area' | 'volume' | 'mass' | 'time' | 'calendar' | 'speed' | 'data' | 'temperature';

/** A unit: a value in it, times the factor, plus the offset, is the value in the base unit of its dimension. */
export type Unit = {
  readonly dimension: Dimension;
  readonly factor: Rational;
  readonly offset?: Rational;
};

/** A name means one unit, or units of several systems, such as the gallon. */
export type UnitMeanings = { readonly [system: string]: Unit };

const decimal = (text: string): Rational => {
  const [whole = '', fraction = ''] = text.split('.');
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
};

type Row = readonly [symbols: string, words: string, factor: string];

/** Symbols are case-sensitive; words are not, and have a plural with s. `|` separates names. */
const rows: Readonly<Record<Exclude<Dimension, 'temperature'>, readonly Row[]>> = {
  length: [
    ['m', 'metre|meter', '1'],
    ['km', 'kilometre|kilometer', '1000'],
    ['cm', 'centimetre|centimeter', '0.01'],
    ['mm', 'millimetre|millimeter', '0.001'],
    ['µm|μm', 'micrometre|micrometer|micron', '0.000001'],
    ['nm', 'nanometre|nanometer', '0.000000001'],
    ['mi', 'mile', '1609.344'],
    ['yd', 'yard', '0.9144'],
    ['ft', 'foot|feet', '0.3048'],
    ['in', 'inch|inches', '0.0254'],
    ['nmi', 'nautical mile', '1852'],
  ],
  area: [
    ['m²|m^2|sqm', 'square metre|square meter', '1'],
    ['km²|km^2', 'square kilometre|square kilometer', '1000000'],
    ['cm²|cm^2', 'square centimetre|square centimeter', '0.0001'],
    ['ha', 'hectare', '10000'],
    ['ft²|ft^2', 'square foot|square feet', '0.09290304'],
    ['in²|in^2', 'square inch|square inches', '0.00064516'],
    ['yd²', 'square yard', '0.83612736'],
    ['mi²', 'square mile', '2589988.110336'],
    ['', 'acre', '4046.8564224'],
  ],
  volume: [
    ['l|L', 'litre|liter', '1'],
    ['ml|mL', 'millilitre|milliliter', '0.001'],
    ['cl', 'centilitre|centiliter', '0.01'],
    ['dl', 'decilitre|deciliter', '0.1'],
    ['hl', 'hectolitre|hectoliter', '100'],
    ['m³|m^3', 'cubic metre|cubic meter', '1000'],
    ['cm³|cm^3', 'cubic centimetre|cubic centimeter', '0.001'],
    ['', 'us gallon', '3.785411784'],
    ['', 'imperial gallon|uk gallon', '4.54609'],
    ['', 'us pint', '0.473176473'],
    ['', 'imperial pint|uk pint', '0.56826125'],
    ['', 'cubic inch|cubic inches', '0.016387064'],
    ['', 'cubic foot|cubic feet', '28.316846592'],
  ],
  mass: [
    ['g', 'gram|gramme', '1'],
    ['kg', 'kilogram|kilo|kilogramme', '1000'],
    ['mg', 'milligram', '0.001'],
    ['µg|μg', 'microgram', '0.000001'],
    ['t', 'tonne|metric ton', '1000000'],
    ['lb|lbs', 'pound', '453.59237'],
    ['oz', 'ounce', '28.349523125'],
    ['', 'stone', '6350.29318'],
    ['', 'short ton|us ton', '907184.74'],
    ['', 'long ton', '1016046.9088'],
  ],
  time: [
    ['s|sec', 'second', '1'],
    ['ms', 'millisecond', '0.001'],
    ['µs|μs', 'microsecond', '0.000001'],
    ['ns', 'nanosecond', '0.000000001'],
    ['min', 'minute', '60'],
    ['h|hr|hrs', 'hour', '3600'],
    ['', 'day', '86400'],
    ['', 'week', '604800'],
    ['', 'fortnight', '1209600'],
  ],
  calendar: [
    ['', 'month', '1'],
    ['', 'quarter', '3'],
    ['', 'year', '12'],
    ['', 'decade', '120'],
    ['', 'century|centuries', '1200'],
    ['', 'millennium|millennia', '12000'],
  ],
  speed: [
    ['m/s', 'metre per second|meter per second|metres per second|meters per second', '3600'],
    ['km/h|kph', 'kilometre per hour|kilometer per hour|kilometres per hour|kilometers per hour', '1000'],
    ['mph', 'mile per hour|miles per hour', '1609.344'],
    ['kn', 'knot', '1852'],
    ['ft/s', 'foot per second|feet per second', '1097.28'],
  ],
  data: [
    ['bit', 'bit', '1'],
    ['kbit', 'kilobit', '1000'],
    ['Mbit|Mb', 'megabit', '1000000'],
    ['Gbit|Gb', 'gigabit', '1000000000'],
    ['B', 'byte', '8'],
    ['KiB', 'kibibyte', '8192'],
    ['MiB', 'mebibyte', '8388608'],
    ['GiB', 'gibibyte', '8589934592'],
    ['TiB', 'tebibyte', '8796093022208'],
    ['PiB', 'pebibyte', '9007199254740992'],
  ],
};

/** Units whose size depends on the system: US, imperial, or the binary use of decimal names. */
const systemRows: readonly (readonly [Dimension, string, string, Readonly<Record<string, string>>])[] = [
  ['volume', 'gal', 'gallon', { us: '3.785411784', imperial: '4.54609' }],
  ['volume', 'qt', 'quart', { us: '0.946352946', imperial: '1.1365225' }],
  ['volume', 'pt', 'pint', { us: '0.473176473', imperial: '0.56826125' }],
  ['volume', '', 'fluid ounce|fl oz', { us: '0.0295735295625', imperial: '0.0284130625' }],
  ['volume', '', 'cup', { us: '0.2365882365', legal: '0.24', metric: '0.25', imperial: '0.284130625' }],
  ['mass', '', 'ton', { metric: '1000000', us: '907184.74', imperial: '1016046.9088' }],
  ['data', 'kB', 'kilobyte', { si: '8000', binary: '8192' }],
  ['data', 'KB', '', { binary: '8192', si: '8000' }],
  ['data', 'MB', 'megabyte', { si: '8000000', binary: '8388608' }],
  ['data', 'GB', 'gigabyte', { si: '8000000000', binary: '8589934592' }],
  ['data', 'TB', 'terabyte', { si: '8000000000000', binary: '8796093022208' }],
  ['data', 'PB', 'petabyte', { si: '8000000000000000', binary: '9007199254740992' }],
];

/** The system that every name of one meaning belongs to. */
export const anySystem = 'any';

const fahrenheit: Unit = { dimension: 'temperature', factor: rational(5n, 9n), offset: rational(45967n, 180n) };

const temperatures: readonly (readonly [string, string, Unit])[] = [
  ['K', 'kelvin', { dimension: 'temperature', factor: rational(1n), offset: rational(0n) }],
  [
    '°C',
    'degree celsius|degrees celsius|celsius|degree c|degrees c',
    { dimension: 'temperature', factor: rational(1n), offset: rational(27315n, 100n) },
  ],
  ['°F', 'degree fahrenheit|degrees fahrenheit|fahrenheit|degree f|degrees f', fahrenheit],
];

type UnitTable = {
  /** The meanings of each symbol, by its exact spelling. */
  readonly symbols: ReadonlyMap<string, UnitMeanings>;
  /** The meanings of each word or words, in lower case. */
  readonly words: ReadonlyMap<string, UnitMeanings>;
  /** The first word of each of them. */
  readonly firstWords: ReadonlySet<string>;
};

function createTable(): UnitTable {
  const symbolMap = new Map<string, UnitMeanings>();
  const wordMap = new Map<string, UnitMeanings>();
  const addUnit = (symbols: string, words: string, meanings: UnitMeanings): void => {
    for (const symbol of symbols.split('|')) if (symbol !== '') symbolMap.set(symbol, meanings);
    for (const word of words.split('|'))
      if (word !== '') for (const form of [word, `${word}s`]) wordMap.set(form, meanings);
  };
  for (const [dimension, list] of Object.entries(rows))
    for (const [symbols, words, factor] of list)
      addUnit(symbols, words, { [anySystem]: { dimension: dimension as Dimension, factor: decimal(factor) } });
  for (const [symbols, words, unit] of temperatures) addUnit(symbols, words, { [anySystem]: unit });
  for (const [dimension, symbols, words, systems] of systemRows) {
    const meanings = Object.entries(systems).map(
      ([system, factor]) => [system, { dimension, factor: decimal(factor) }] as const,
    );
    addUnit(symbols, words, Object.fromEntries(meanings));
  }
  const firstWords = new Set(Array.from(wordMap.keys(), (words) => words.split(' ')[0] ?? words));
  return { symbols: symbolMap, words: wordMap, firstWords };
}

let table: UnitTable | undefined;

/** Returns the units by symbol and by word. They are built at the first use. */
export const getUnitTable = (): UnitTable => (table ??= createTable());
