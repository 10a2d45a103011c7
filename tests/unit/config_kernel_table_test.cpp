#include "configs/tables/kernel_table.hpp"
#include "files/io_error.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

#include <doctest/doctest.h>

#include <array>

#include "base/csv_text.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_kernel_table_test {
namespace {

constexpr const char* kAllColumns =
    "op,dtype,b,m,n,k,heads,kv_heads,seq,kv_seq,head_dim,causal,pass,rows,cols\n";

/// A table in a file of its own.
struct Written {
  explicit Written(const std::string& text) : file(folder.write("t.csv", text)) {}
  KernelTable read() const { return KernelTable::read(file); }
  std::string error() const {
    return error_of([&] { read(); });
  }

  ScratchFolder folder;
  std::string file;
};

std::vector<Operator> operators(const std::string& text) {
  const KernelTable table = Written(text).read();
  CHECK(table.broken().empty());
  std::vector<Operator> found;
  for (const KernelRow& row : table.rows())
    found.push_back(row.op);
  return found;
}

/// Why the only row, with all columns, is broken: "column key: reason".
std::string broken(const std::string& row) {
  const KernelTable table = Written(kAllColumns + row + "\n").read();
  if (table.broken().size() != 1 || !table.rows().empty()) return "not broken";
  const BrokenRow& found = table.broken().front();
  CHECK(found.at.line == 2);
  CHECK(found.text == row);
  return std::to_string(found.at.column) + " " + found.key + ": " + found.reason;
}

std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> found;
  CHECK(cut_cells(line, found));
  return found;
}

using Cells = std::vector<std::string_view>;

}  // namespace

TEST_CASE("a line of CSV is cut at commas that no quotes hold") {
  CHECK(cells("a,b") == Cells{"a", "b"});
  CHECK(cells(" a\t, b ,") == Cells{"a", "b", ""});
  CHECK(cells(",") == Cells{"", ""});
  CHECK(cells("\"a,b\" , \"\",\" c \"") == Cells{"a,b", "", " c "});
  CHECK(cells("\"a \"\"b\"\"\",c") == Cells{"a \"\"b\"\"", "c"});
  for (const std::string_view line : {"a,\"b", "a,\"b\"c,d", "\"", "\"\"\""}) {
    CAPTURE(line);
    Cells found;
    CHECK_FALSE(cut_cells(line, found));
  }
}

TEST_CASE("columns of a line count code points") {
  const std::string_view line = "\xC3\xA4\xC3\xB6,x";
  CHECK(column_of(line, line.substr(5)) == 4);
  CHECK(column_of(line, line) == 1);
}

TEST_CASE("blank lines, comments, line ends and a byte order mark are no rows, but are counted") {
  CsvLines lines("\xEF\xBB\xBF# shapes\r\n\r\nop,m\r\n \t\n#,\ngemm,1");
  REQUIRE(lines.next());
  CHECK(lines.line() == "op,m");
  CHECK(lines.number() == 3);
  REQUIRE(lines.next());
  CHECK(lines.line() == "gemm,1");
  CHECK(lines.number() == 6);
  CHECK_FALSE(lines.next());
}

TEST_CASE("each class of operators is read from its columns, in any order, with the defaults of the others") {
  CHECK(operators("k,n,m,dtype,op\n4,3,2,bf16,gemm\n") ==
        std::vector<Operator>{GemmShape{.m = 2, .n = 3, .k = 4, .dtype = DType::bf16, .batch = 1}});
  CHECK(operators("op,dtype,b,heads,seq,head_dim\nattention,fp16,,32,1024,128\n") ==
        std::vector<Operator>{AttentionShape{.batch = 1,
                                             .heads = 32,
                                             .kv_heads = 32,
                                             .queries = 1024,
                                             .keys = 1024,
                                             .head_dim = 128,
                                             .causal = false,
                                             .dtype = DType::fp16,
                                             .pass = Pass::forward}});
  VectorChain chain = VectorOp::gelu;
  chain.append(VectorOp::add);
  CHECK(operators("op,dtype,rows,cols\ngelu+add,fp32,5,6\n") ==
        std::vector<Operator>{VectorShape{.chain = chain, .rows = 5, .cols = 6, .dtype = DType::fp32}});
}

TEST_CASE("what is written out is taken") {
  const auto found = operators(std::string(kAllColumns) +
                               "bmm,half,7,2,3,4,,,,,,,,,\n"
                               "sdpa,bfloat16,2,,,,32,8,1,4096,64,true,backward,,\n"
                               "ln,float,,,,,,,,,,,backward,5,6.0\n"
                               "\"rms_norm\",fp8,,,,,,,,,,,,5,6\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == Operator{GemmShape{.m = 2, .n = 3, .k = 4, .dtype = DType::fp16, .batch = 7}});
  CHECK(found[1] == Operator{AttentionShape{.batch = 2,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .queries = 1,
                                            .keys = 4096,
                                            .head_dim = 64,
                                            .causal = true,
                                            .dtype = DType::bf16,
                                            .pass = Pass::backward}});
  CHECK(found[2] == Operator{VectorShape{.chain = VectorOp::layernorm,
                                         .rows = 5,
                                         .cols = 6,
                                         .dtype = DType::fp32,
                                         .pass = Pass::backward,
                                         .is_eager = true}});
  CHECK(found[3] ==
        Operator{VectorShape{.chain = VectorOp::rmsnorm, .rows = 5, .cols = 6, .dtype = DType::fp8}});
}

TEST_CASE("every alias of an operator and of a data type is known") {
  for (const char* op : {"gemm", "bmm", "linear", "matmul"})
    CHECK(operators(std::string("op,dtype,m,n,k\n") + op + ",bf16,1,1,1\n").at(0).as<GemmShape>() != nullptr);
  for (const char* op : {"attention", "sdpa", "flash_attention"})
    CHECK(operators(std::string("op,dtype,heads,seq,head_dim\n") + op + ",bf16,1,1,1\n")
              .at(0)
              .as<AttentionShape>() != nullptr);
  for (const VectorOpTraits& op : kVectorOps) {
    CAPTURE(op.name);
    const char* const dtype =
        op.name.starts_with("quantize_mx9") || op.name.starts_with("quantize_mx6") ? "fp32" : "bf16";
    CHECK(name_of(operators("op,dtype,rows,cols\n" + std::string(op.name) + "," + dtype + ",1,16\n").at(0)) ==
          op.name);
  }
}

TEST_CASE("a broken row is kept apart, with its place and the reason") {
  CHECK(broken("gemm,bf16,,a,3,4,,,,,,,,,") == "12 m: 'a' is not an integer");
  CHECK(broken("gemm,bf16,,2.5,3,4,,,,,,,,,") == "12 m: '2.5' is not an integer");
  CHECK(broken("gemm,bf16,,2,0,4,,,,,,,,,") == "14 n: must be at least 1, not 0");
  CHECK(broken("gemm,bf16,-3,2,1,4,,,,,,,,,") == "11 b: must be at least 1, not -3");
  CHECK(broken("gemm,bf16,,2,,4,,,,,,,,,") == "14 n: is missing; gemm requires it");
  CHECK(broken("gemm,,,2,2,4,,,,,,,,,") == "6 dtype: is missing; gemm requires it");
  CHECK(broken("gemm,bf16,,1099511627777,1,1,,,,,,,,,") == "12 m: must be at most 2^40, not 1099511627777");
  CHECK(broken("gemm,bf16,,99999999999999999999,1,1,,,,,,,,,") ==
        "12 m: '99999999999999999999' is beyond 2^40");
  CHECK(broken("gemm,bf16,,2,2,2,,,,,,,backward,,") == Part{"pass: the backward pass of a gemm"});
  CHECK(broken("gemm,bf61,,2,2,2,,,,,,,,,") == Part{"6 dtype: unknown word 'bf61'"});
  CHECK(broken("attention,bf16,,,,,32,5,64,,64,,,,") == "23 kv_heads: 5 does not divide the 32 heads");
  CHECK(broken("attention,bf16,,,,,32,,64,,64,2,,,") == Part{"causal: unknown word '2'"});
  CHECK(broken("gemmm,bf16,,2,2,2,,,,,,,,,") == Part{"1 op: unknown operator 'gemmm'"});
  CHECK(broken("gemmm,bf16,,2,2,2,,,,,,,,,") == Part{"did you mean 'gemm'?"});
  CHECK(broken("gelu+,bf16,,,,,,,,,,,,2,2") == Part{"1 op: unknown operator ''"});
  CHECK(broken("gelu+softmax,bf16,,,,,,,,,,,,2,2") == "1 op: only elementwise operators can be fused");
  CHECK(broken("add+add+add+add+add+add+add+add+add,bf16,,,,,,,,,,,,2,2") ==
        "1 op: a fused chain has at most 8 operators");
  CHECK(broken(",bf16,,2,2,2,,,,,,,,,") == "1 op: is missing; every operator requires it");
  CHECK(broken("gemm,bf16,,2") == "12 row: has 4 cells, the header 15");
  CHECK(broken("gemm,bf16,,2,2,2,,,,,,,,,,7") == "27 row: has 16 cells, the header 15");
  CHECK(broken("gemm,\"bf16,,2,2,2,,,,,,,,,") == "6 row: a quoted cell does not end");
  CHECK(broken("gemm," + std::string(5000, 'x')) == "1 row: is longer than 4096 bytes");
}

TEST_CASE("a shape of 2^63 flops or bytes is refused, and one just below is not") {
  // 2 x 2^20 x 2^20 x 2^21 = 2^62; with k twice as large 2^63.
  CHECK(operators("op,dtype,m,n,k\ngemm,fp8,1048576,1048576,2097152\n").size() == 1);
  CHECK(broken("gemm,fp8,,1048576,1048576,4194304,,,,,,,,,") ==
        "11 m: the operator would compute 9.2e+18 flops");
  CHECK(broken("gemm,fp8,1099511627776,1048576,1,16,,,,,,,,,") == Part{"m: the operator would move"});
  CHECK(broken("attention,bf16,,,,,1024,,1099511627776,1,1024,,,,") == Part{"seq: the operator would"});
  CHECK(broken("adam,bf16,,,,,,,,,,,,1099511627776,1099511627776") == Part{"rows: the operator would"});
}

TEST_CASE("good rows are read beside broken ones, and know their lines") {
  const Written written("op,dtype,m,n,k\n\ngemm,bf16,1,1,1\ngemm,bf16,x,1,1\n# no\ngemm,bf16,2,2,2\n");
  const KernelTable table = written.read();
  REQUIRE(table.rows().size() == 2);
  CHECK(table.rows()[0].line == 3);
  CHECK(table.rows()[1].line == 6);
  CHECK(table.rows()[1].text == "gemm,bf16,2,2,2");
  REQUIRE(table.broken().size() == 1);
  CHECK(place_of(table.broken()[0].at) == written.file + ":4:11");
}

TEST_CASE("a header that cannot be right is refused whole, at its place") {
  CHECK(Written("op,dtyp,m\n").error() == Part{":1:4: dtyp: unknown column 'dtyp'"});
  CHECK(Written("op,dtyp,m\n").error() == Part{"did you mean 'dtype'?"});
  CHECK(Written("# a\nop,m,dtype,m\n").error() == Part{":2:12: m: is there twice"});
  CHECK(Written("dtype,m,n,k\n").error() == Part{":1:1: op: the column is missing"});
  CHECK(Written("op,\"m\n").error() == Part{":1:4: "});
  CHECK(Written("").error() == Part{":1:1: header: is missing"});
  CHECK(Written("# only\n\n").error() == Part{":1:1: header: is missing"});
  CHECK(Written(std::string(5000, 'x')).error() == Part{":1:1: header: is longer than 4096 bytes"});
}

TEST_CASE("a column that a row needs and the header lacks is an error of the file") {
  CHECK(Written("op,dtype,m,n\nsoftmx,bf16,1,1\ngemm,bf16,1,1\n").error() ==
        Part{":1:1: k: the column is missing, which rows such as 'gemm,bf16,1,1' need"});
  CHECK(Written("op,m,n,k\ngemm,1,1,1\n").error() == Part{":1:1: dtype: the column is missing"});
  CHECK(Written("op,m,n,k\n").error() == "no error");
}

TEST_CASE("a table's format may give words that the file leaves out") {
  const Written written("op,m,n,k,dtype\ngemm,1,1,1,\ngemm,1,1,1,fp8\n");
  TableFormat format = shape_table_format();
  format.words[ShapeKey::dtype] = "fp16";
  const KernelTable table = KernelTable::read(written.file, format);
  REQUIRE(table.rows().size() == 2);
  CHECK(table.rows()[0].op.as<GemmShape>()->dtype == DType::fp16);
  CHECK(table.rows()[1].op.as<GemmShape>()->dtype == DType::fp8);
}

TEST_CASE("a file that cannot be read is the system's error") {
  const ScratchFolder folder;
  CHECK_THROWS_AS(KernelTable::read(folder / "none.csv"), IoError);
  CHECK_THROWS_AS(KernelTable::read(folder.path()), IoError);
}

}  // namespace c3::config_kernel_table_test
