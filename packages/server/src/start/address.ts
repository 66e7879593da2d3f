/** Where devices reach this process, if the operator has said so; and where it listens, once it does. */
export interface Address {
  readonly url: string | null;
  listens: string;
}
