-- What a chip-hour costs outside the market, in global credits: forms compare the market's price with it. Null: not said.

ALTER TABLE chip_type_version ADD COLUMN list_price INTEGER CONSTRAINT chip_type_list_price CHECK (list_price BETWEEN 1 AND 9007199254740991);

CREATE TRIGGER chip_type_version_keeps_list_price BEFORE UPDATE OF list_price ON chip_type_version
BEGIN SELECT RAISE(ABORT, 'history is append-only: update of chip_type_version refused'); END;
