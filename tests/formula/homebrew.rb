# frozen_string_literal: true

# The part of Homebrew's language that our formula uses: describes, installs and tests it.
#
#   ruby homebrew.rb FORMULA PREFIX DOWNLOADS
#
# DOWNLOADS has the file of each url, by its last part. What is done is printed as JSON. A word that
# Homebrew does not have, or that is used wrongly, is an error.
require "digest"
require "fileutils"
require "json"
require "open3"
require "pathname"
require "tmpdir"

CPU = { "x86_64" => :intel, "aarch64" => :arm }.fetch(`uname -m`.strip)

class Pathname
  # Homebrew's: {file => new name}.
  def install(files)
    mkpath
    files.each do |from, to|
      FileUtils.cp(from, self/to)
      (self/to).chmod(0o755)
    end
  end

  alias_method :plain_write, :write
  def write(text)
    dirname.mkpath
    plain_write(text)
  end
end

module Utils
  def self.safe_popen_read(*command)
    out, status = Open3.capture2(*command.map(&:to_s))
    raise "#{command.join(" ")}: #{status}" unless status.success?

    out
  end
end

class Service
  attr_reader :settings

  def initialize(formula, &block)
    @formula = formula
    @settings = {}
    instance_eval(&block)
  end

  def opt_bin = @formula.bin
  def var = @formula.var

  [:run, :keep_alive, :log_path, :error_log_path].each do |name|
    define_method(name) { |value| @settings[name] = value }
  end
end

class Formula
  TEXTS = [:desc, :homepage, :version, :license, :url, :sha256].freeze

  class << self
    attr_reader :facts, :test_block, :service_block, :needs

    def inherited(formula)
      super
      @last = formula
      formula.instance_variable_set(:@facts, {})
      formula.instance_variable_set(:@needs, [])
    end

    attr_reader :last

    TEXTS.each { |name| define_method(name) { |value| @facts[name] = value } }
    def depends_on(what) = @needs << what
    def on_linux = yield
    def on_intel = CPU == :intel && yield
    def on_arm = CPU == :arm && yield
    def test(&block) = @test_block = block
    def service(&block) = @service_block = block
  end

  def initialize(prefix)
    @prefix = Pathname(prefix)
  end

  def version = self.class.facts.fetch(:version)
  def bin = @prefix/"bin"
  def man1 = @prefix/"share/man/man1"
  def var = @prefix/"var"

  COMPLETIONS = { bash: "etc/bash_completion.d/%s", zsh: "share/zsh/site-functions/_%s",
                  fish: "share/fish/vendor_completions.d/%s.fish" }.freeze

  def generate_completions_from_executable(*command, shells:)
    shells.each do |shell|
      text = Utils.safe_popen_read(*command, shell)
      (@prefix/format(COMPLETIONS.fetch(shell), command.first.basename)).write(text)
    end
  end

  def shell_output(command, expected = 0)
    out, status = Open3.capture2(command)
    raise "#{command}: #{status}" unless status.exitstatus == expected

    out
  end

  def assert_match(pattern, text)
    raise "#{pattern.inspect} is not in #{text.inspect}" unless text.match?(pattern)
  end
end

# Copies what the formula names into this folder, as Homebrew does after a download.
def fetch(facts, downloads)
  file = Pathname(downloads)/File.basename(facts.fetch(:url))
  digest = Digest::SHA256.file(file).hexdigest
  raise "sha256 of #{file} is #{digest}" unless digest == facts.fetch(:sha256)

  FileUtils.cp(file, ".")
end

file, prefix, downloads = ARGV
load File.expand_path(file)
described = Formula.last
formula = described.new(prefix)
Dir.mktmpdir do |folder|
  Dir.chdir(folder) do
    fetch(described.facts, downloads)
    formula.install
  end
end
Dir.mktmpdir do |folder|
  Dir.chdir(folder) { formula.instance_eval(&described.test_block) }
end
service = Service.new(formula, &described.service_block).settings
service = service.transform_values { |value| value.is_a?(Array) ? value.map(&:to_s) : value.to_s }
puts JSON.generate(facts: described.facts, needs: described.needs, service: service)
