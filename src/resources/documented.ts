/** What the API documents of its answers, read or not: `--report` says which fields came and which did not. */

/** What is documented of a value: the fields of an object, the values of a map, the elements of a list, or nothing. */
export interface Documented {
  readonly fields?: ReadonlyMap<string, Documented>;
  readonly values?: Documented;
  readonly elements?: Documented;
  /** A body of several forms: only some of the fields come. */
  readonly hasForms?: true;
}

/** What is documented of a value that has no parts. */
export const undescribed: Documented = {};

/**
 * The fields of an object in short: their names. After a name, `{…}` has the fields of an object, `[…]` those of the elements
 * of a list, and `{*}` is an object whose keys are data.
 */
export function documentedFields(notation: string): ReadonlyMap<string, Documented> {
  const tokens = notation.match(/[{}[\]]|[^\s{}[\]]+/g) ?? [];
  const fieldsUntil = (end?: string): ReadonlyMap<string, Documented> => {
    const fields = new Map<string, Documented>();
    let last = '';
    for (let token = tokens.shift(); token !== undefined && token !== end; token = tokens.shift()) {
      if (token === '[') fields.set(last, { elements: { fields: fieldsUntil(']') } });
      else if (token === '{') fields.set(last, ofBraces(fieldsUntil('}')));
      else {
        last = token;
        fields.set(last, /^error(Response)?$/.test(last) ? errorBody : undescribed);
      }
    }
    return fields;
  };
  return fieldsUntil();
}

function ofBraces(fields: ReadonlyMap<string, Documented>): Documented {
  const values = fields.get('*');
  return values ? { values } : { fields };
}

const errorFields = documentedFields(
  'type title status detail instance errors[field message] id statusCode success message errorKey ErrorKey Field Message code details',
);

/** The bodies of errors: problem details, the envelope, those of the other APIs, and lists of messages. */
export const errorBody: Documented = {
  fields: new Map([...errorFields, ['error', { fields: errorFields, hasForms: true }]]),
  elements: { fields: documentedFields('message') },
  hasForms: true,
};
