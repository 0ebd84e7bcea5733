import 'reflect-metadata';
import { validateSync } from 'class-validator';
import { EnumProperty, ResponseSchemaBase, TextProperty } from './fields.ts';
import { DeriveRequestClassFromResource } from './mapped-types.ts';
import { getFieldDeclarations, readAndValidateObject } from './read-dto.ts';

class ParcelResource extends ResponseSchemaBase {
  readonly id!: string;
  @TextProperty({ description: 'Name.', example: 'Books' })
  readonly name!: string;
  @TextProperty({ description: 'A remark.', nullable: true })
  readonly note!: string | null;
  @EnumProperty(['small', 'large'], { description: 'Size.' }, { big: 'large' })
  readonly size!: 'small' | 'large';
}
class CreateParcelDto extends DeriveRequestClassFromResource(ParcelResource, {
  required: ['name'],
  optional: ['note', 'size'],
}) {}
class ChangeParcelDto extends DeriveRequestClassFromResource(ParcelResource, { optional: ['note'], kept: ['name'] }) {}

const faults = (dto: new () => object, input: unknown) =>
  readAndValidateObject(dto, input).faults.map(({ param, code }) => `${param} ${code}`);
const described = (dto: new () => object, name: string) =>
  Reflect.getMetadata('swagger/apiModelProperties', dto.prototype as object, name) as Record<string, unknown>;

describe('DeriveRequestClass', () => {
  it('includes only the named fields', () => {
    expect([...getFieldDeclarations(CreateParcelDto).keys()]).toEqual(['name', 'note', 'size']);
    expect([...getFieldDeclarations(ChangeParcelDto).keys()]).toEqual(['name', 'note']);
  });

  it('requires required fields, accepts null for optional ones, and refuses null for kept ones', () => {
    expect(faults(CreateParcelDto, {})).toEqual(['name required']);
    expect(faults(CreateParcelDto, { name: null, note: null, size: null })).toEqual(['name required']);
    expect(faults(ChangeParcelDto, {})).toEqual([]);
    expect(faults(ChangeParcelDto, { name: null, note: null })).toEqual(['name required']);
    expect(faults(ChangeParcelDto, { name: ' ', note: 5 })).toEqual(['name invalid_value', 'note invalid_type']);
  });

  it('converts aliases to their value', () => {
    expect(readAndValidateObject(CreateParcelDto, { name: 'a', size: 'BIG' }).value).toEqual({
      name: 'a',
      size: 'large',
    });
  });

  it('describes limits only in requests', () => {
    expect(described(ParcelResource, 'name')).toMatchObject({ description: 'Name.', example: 'Books', type: String });
    expect(described(ParcelResource, 'name')).not.toHaveProperty('maxLength');
    expect(described(CreateParcelDto, 'name')).toMatchObject({ required: true, maxLength: 1_000, nullable: false });
    expect(described(ParcelResource, 'size')).toMatchObject({ enum: ['small', 'large'], nullable: false });
    expect(described(CreateParcelDto, 'size')).toMatchObject({
      enum: ['small', 'large', 'big'],
      nullable: true,
      required: false,
    });
    expect(described(ChangeParcelDto, 'name')).toMatchObject({ required: false, nullable: false });
  });

  it('declares constraints that class-validator runs too', () => {
    const parcel = Object.assign(new CreateParcelDto(), { name: ' ', size: 'huge' });
    expect(validateSync(parcel).map(({ property, constraints }) => ({ property, ...constraints }))).toEqual([
      { property: 'name', field: 'Must not be blank.' },
      { property: 'size', field: 'Must be one of small, large, big.' },
    ]);
  });
});
