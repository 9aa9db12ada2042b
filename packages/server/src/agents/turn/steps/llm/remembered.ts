/**
 * The function, which makes something of a list of objects, with what it has made remembered: for the same objects in the same order it is
 * the same, as long as they are all there. `make` must look at nothing else.
 */
export function remembered<K extends object, T>(
  make: (parts: readonly K[]) => T,
): (parts: readonly K[]) => T {
  const root = newPlace<K, T>();
  return parts => {
    let place = root;
    for (const part of parts) {
      let next = place.next.get(part);
      if (!next) {
        next = newPlace();
        place.next.set(part, next);
      }
      place = next;
    }
    place.made ??= { value: make(parts) };
    return place.made.value;
  };
}

interface Place<K extends object, T> {
  readonly next: WeakMap<K, Place<K, T>>;
  made: { readonly value: T } | undefined;
}

function newPlace<K extends object, T>(): Place<K, T> {
  return { next: new WeakMap(), made: undefined };
}
