// Letters of other alphabets that look exactly like Latin ones.

/** Cyrillic and Greek letters that look exactly like Latin ones. */
export const latinShapes: ReadonlySet<string> = new Set('асԁеһіјӏорԛѕԝхуАВЕЅІЈКМНОРСТХУαινορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ');
