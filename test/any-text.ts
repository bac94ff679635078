import fc from 'fast-check';

/** Text of any characters. fast-check's `unit: 'binary'` takes a second to make its table of them. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const character = fc
    .oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0x10ffff }))
    .filter((code) => code < 0xd800 || code > 0xdfff);
  return fc.array(character, { maxLength }).map((codes) => String.fromCodePoint(...codes));
}
