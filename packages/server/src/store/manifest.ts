/** One table in the form both engines are compared in. */
export interface TableManifest {
  readonly name: string;
  readonly columns: readonly ColumnManifest[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKeyManifest[];
  readonly indexes: readonly IndexManifest[];
}

export interface ColumnManifest {
  readonly name: string;
  readonly kind: 'int' | 'real' | 'text' | 'bytes';
  readonly nullable: boolean;
}

export interface ForeignKeyManifest {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: 'cascade' | 'no action';
}

export interface IndexManifest {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** Condition of a partial index. */
  readonly where?: string;
}
